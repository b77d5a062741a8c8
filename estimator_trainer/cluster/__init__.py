"""Cluster: from TF_CONFIG to which task of which cluster this process is."""
