"""Code shared by the input plug-ins; none of these modules is a plug-in itself."""
