"""Folders of pictures, made here, on which the defaults of cnn and resnet are measured."""
