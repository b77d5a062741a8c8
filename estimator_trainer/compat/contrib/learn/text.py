"""Texts and categories become numbers.

Source: tensorflow/contrib/learn/python/learn/preprocessing of TensorFlow 1.15: text.py,
categorical.py and categorical_vocabulary.py.
"""

from __future__ import annotations

import collections
import math
import pickle
import re
from typing import Any, Iterable, Iterator

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.contrib.learn import feeder

TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Returns the words of texts."""
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


class CategoricalVocabulary:
    """Categories and their numbers; 0 is unknown."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._freq: dict[Any, int] = collections.defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Gives new categories no number from now on, or gives them one again."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """Returns a category's number, a new one if it has none."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps the categories that are there more often than one number and less than another."""
        in_order = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        in_order.sort(key=lambda item: item[1], reverse=True)
        kept = {category: count for category, count in in_order if count > min_frequency
                and not 0 < max_frequency <= count}
        self._mapping = {category: number for number, category in enumerate(
            [self._unknown_token, *kept])}
        self._freq = kept

    def reverse(self, class_id: int) -> Any:
        """Returns the category of a number.

        Raises:
          ValueError: support_reverse was False.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support "
                             "reverse() function.")
        return list(self._mapping)[class_id]


class VocabularyProcessor:
    """Maps texts to the numbers of their words.

    Args:
      max_document_length: How many words; shorter texts end with zeros.
      min_frequency: Words that are not there more often are unknown.
      vocabulary: A CategoricalVocabulary.
      tokenizer_fn: A function of texts that returns the words of each.
    """

    def __init__(self, max_document_length: int, min_frequency: int = 0, vocabulary: Any = None,
                 tokenizer_fn: Any = None) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> Any:
        """Learns the words of texts, and returns the processor."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[Any]:
        """Learns the words of texts, and returns their numbers."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """Returns an iterator of int64 [max_document_length], one for each text."""
        for tokens in self._tokenizer(raw_documents):
            ids = np.zeros(self.max_document_length, np.int64)
            for place, token in zip(range(self.max_document_length), tokens):
                ids[place] = self.vocabulary_.get(token)
            yield ids

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """Returns an iterator of the texts of numbers."""
        for ids in documents:
            yield " ".join(self.vocabulary_.reverse(each) for each in ids)

    def save(self, filename: str) -> None:
        """Writes the processor into a file, by pickle."""
        with tf.io.gfile.GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> Any:
        """Returns a processor that `save` wrote."""
        with tf.io.gfile.GFile(filename, "rb") as file:
            return pickle.loads(file.read())


class ByteProcessor:
    """Maps texts to their bytes in UTF-8."""

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Does nothing."""

    def fit_transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Is `transform`."""
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Returns an iterator of uint8 [max_document_length], one for each text."""
        for document in x:
            text = document.encode() if isinstance(document, str) else bytes(document)
            chars = np.frombuffer(text[:self.max_document_length], np.uint8)
            yield np.pad(chars, (0, self.max_document_length - len(chars)))

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """Returns an iterator of the texts of bytes, "" for those that are no text."""
        for data in x:
            document = np.trim_zeros(data.astype(np.int8), trim="b").tobytes()
            try:
                yield document.decode()
            except UnicodeDecodeError:
                yield ""


class CategoricalProcessor:
    """Maps rows of categories to rows of numbers.

    Args:
      min_frequency: Categories that are not there more often are unknown.
      share: Whether all columns have one vocabulary.
      vocabularies: A vocabulary for each column.
    """

    def __init__(self, min_frequency: int = 0, share: bool = False,
                 vocabularies: Any = None) -> None:
        self.min_frequency, self.share, self.vocabularies_ = min_frequency, share, vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Freezes the vocabularies."""
        for each in self.vocabularies_:
            each.freeze(freeze)

    def fit(self, x: Any, unused_y: Any = None) -> Any:
        """Learns the categories of rows, and returns the processor."""
        for row in feeder.extract_pandas_matrix(x):
            if self.vocabularies_ is None:
                shared = CategoricalVocabulary()
                self.vocabularies_ = [shared if self.share else CategoricalVocabulary()
                                      for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row):
                if not _is_nan(value):
                    vocabulary.add(value)
        for each in self.vocabularies_ if self.min_frequency > 0 else ():
            each.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Any, unused_y: Any = None) -> Iterator[Any]:
        """Learns the categories of rows, and returns their numbers."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Any) -> Iterator[Any]:
        """Returns an iterator of int64 rows."""
        self.freeze()
        for row in feeder.extract_pandas_matrix(x):
            yield np.array([0 if _is_nan(value) else vocabulary.get(value)
                            for vocabulary, value in zip(self.vocabularies_, row)], np.int64)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
