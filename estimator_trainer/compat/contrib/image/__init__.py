"""`tf.contrib.image`: projective transforms, warps, splines, components and matches."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.image"
NAMES = {
    **{name: f"{_HERE}.projective.{name}" for name in (
        "angles_to_projective_transforms", "compose_transforms", "flat_transforms_to_matrices",
        "matrices_to_flat_transforms", "rotate", "transform", "translate",
        "translations_to_projective_transforms")},
    **{name: f"{_HERE}.warp.{name}" for name in ("dense_image_warp", "sparse_image_warp")},
    "_interpolate_bilinear": f"{_HERE}.warp.interpolate_bilinear",
    "bipartite_match": f"{_HERE}.matching.bipartite_match",
    "connected_components": f"{_HERE}.components.connected_components",
    "interpolate_spline": f"{_HERE}.spline.interpolate_spline",
}
INSTEAD = {"single_image_random_dot_stereograms":
           "make the picture with NumPy before, as its kernel is not in TensorFlow any more"}
