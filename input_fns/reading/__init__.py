"""What the input plug-ins share; none of these modules is a plug-in itself."""
