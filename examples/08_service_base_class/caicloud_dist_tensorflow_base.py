"""The first name of the service's module."""

from caicloud.clever.tensorflow.dist_base import CaicloudDistTensorflowBase

__all__ = ["CaicloudDistTensorflowBase"]
