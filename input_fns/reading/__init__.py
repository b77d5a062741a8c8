"""The modules from which the input plug-ins are built: none of them is a plug-in itself."""
