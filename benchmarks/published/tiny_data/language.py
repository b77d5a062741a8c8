"""Sentences of an invented language: vocabularies, networks' sizes, GLUE files, pre-training."""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

from benchmarks.published.tiny_data import records

_RANDOM = random.Random(1)
WORDS = tuple(f"w{number}" for number in range(60))
_VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS)
_BERT = {"vocab_size": len(_VOCABULARY), "hidden_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 2, "intermediate_size": 64, "hidden_act": "gelu",
         "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
         "max_position_embeddings": 64, "type_vocab_size": 2, "initializer_range": 0.02}
_ALBERT = {**_BERT, "embedding_size": 16, "num_hidden_groups": 1, "inner_group_num": 1,
           "net_structure_type": 0, "gap_size": 0, "num_memory_blocks": 0, "down_scale_factor": 1}
_XLNET = {"d_head": 8, "d_inner": 32, "d_model": 16, "ff_activation": "gelu", "n_head": 2,
          "n_layer": 2, "n_token": 32000, "untie_r": True}
# Segments, columns, rows, earlier labels, ranks up and down, numeric relations.
_TAPAS = {**_BERT, "type_vocab_size": [3, 256, 256, 2, 256, 256, 10]}
_LENGTH, _MASKED = 32, 5


def sentence(words: int = 8) -> str:
    """Returns a sentence of that many words."""
    return " ".join(_RANDOM.choice(WORDS) for _ in range(words))


def make(root: pathlib.Path) -> None:
    """Makes the folders bert/ and electra/, and SentencePiece's models if it is installed."""
    bert, electra = root / "bert", root / "electra"
    for folder in (bert / "glue" / "MRPC", bert / "glue" / "CoLA",
                   electra / "finetuning_data" / "cola"):
        folder.mkdir(parents=True, exist_ok=True)
    for folder in (bert, electra):
        (folder / "vocab.txt").write_text("\n".join(_VOCABULARY) + "\n")
    for name, network in (("bert", _BERT), ("albert", _ALBERT), ("xlnet", _XLNET),
                          ("tapas", _TAPAS)):
        (bert / f"{name}_config.json").write_text(json.dumps(network))
    _sentence_pairs(bert / "glue")
    for folder in (bert / "glue" / "CoLA", electra / "finetuning_data" / "cola"):
        _sentences(folder)
    records.write(bert / "pretraining.tfrecord", _masked, 64)
    records.write(electra / "pretrain_tfrecords" / "pretrain_data.tfrecord-0", _plain, 64)
    _sentence_pieces(bert)


def _sentence_pairs(folder: pathlib.Path) -> None:
    for name, count in (("train", 32), ("dev", 16), ("test", 16)):
        rows = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
        rows += [f"{i % 2}\t{i}\t{i}\t{sentence()}\t{sentence()}" for i in range(count)]
        (folder / "MRPC" / f"{name}.tsv").write_text("\n".join(rows) + "\n")
        # STS-B: the score is the last column, after the two sentences.
        rows = ["index\tgenre\tfile\tyear\told\tsource1\tsource2\tsentence1\tsentence2\tscore"]
        rows += [f"{i}" + "\tx" * 6 + f"\t{sentence()}\t{sentence()}\t{i % 5}.0"
                 for i in range(count)]
        (folder / f"{name}.tsv").write_text("\n".join(rows) + "\n")


def _sentences(folder: pathlib.Path) -> None:
    for name, count in (("train", 32), ("dev", 16)):
        rows = [f"x\t{i % 2}\t\t{sentence()}" for i in range(count)]
        (folder / f"{name}.tsv").write_text("\n".join(rows) + "\n")
    rows = ["index\tsentence"] + [f"{i}\t{sentence()}" for i in range(16)]
    (folder / "test.tsv").write_text("\n".join(rows) + "\n")


def _tokens(count: int) -> list[int]:
    return [_RANDOM.randrange(5, len(_VOCABULARY)) for _ in range(count)]


def _plain(_: int) -> dict[str, Any]:
    return {"input_ids": records.ints([2, *_tokens(_LENGTH - 2), 3]),
            "input_mask": records.ints([1] * _LENGTH),
            "segment_ids": records.ints([0] * _LENGTH)}


def _masked(number: int) -> dict[str, Any]:
    positions = sorted(_RANDOM.sample(range(1, _LENGTH), _MASKED))
    return {**_plain(number), "masked_lm_positions": records.ints(positions),
            "masked_lm_ids": records.ints(_tokens(_MASKED)),
            "masked_lm_weights": records.floats([1.0] * _MASKED),
            "next_sentence_labels": records.ints([number % 2]),
            "question_id": records.raw(f"q-{number}_0".encode()),
            "token_boundary": records.ints([1] * _LENGTH),
            "column_ids": records.ints([place % 4 for place in range(_LENGTH)]),
            "row_ids": records.ints([place // 4 for place in range(_LENGTH)])}


def _sentence_pieces(folder: pathlib.Path) -> None:
    try:
        import sentencepiece  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("No sentencepiece here: ALBERT and XLNet will lack their models.")
        return
    (folder / "text.txt").write_text("\n".join(sentence() for _ in range(500)))
    kinds: dict[str, dict[str, Any]] = {
        "xlnet": {"control_symbols": "<cls>,<sep>,<pad>,<mask>,<eod>,<eop>"},
        "albert": {"user_defined_symbols": "[CLS],[SEP],[MASK]", "pad_id": 0, "unk_id": 1,
                   "bos_id": -1, "eos_id": -1}}
    for name, symbols in kinds.items():
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text.txt"), model_prefix=str(folder / name),
            vocab_size=len(_VOCABULARY), hard_vocab_limit=False, minloglevel=2, **symbols)
