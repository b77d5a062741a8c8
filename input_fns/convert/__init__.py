"""`python -m input_fns.convert` writes image sets as TFRecord files for the plug-in `tfrecord`.

    python -m input_fns.convert --dataset=mnist --output=/data/mnist --shards=4

  sources.py   the images of a TFDS dataset or of IDX files
  writer.py    the files and dataset.json; each is written completely or not at all
"""
