"""Who the student learns from: itself, its frozen layers, a momentum copy, another encoder, or a guide of one's own."""

from isotrope.guides.base import CalledGuide, Guide, GuideSpec
from isotrope.parts import Registry

GUIDES: Registry[GuideSpec] = Registry("guides", "isotrope.guides", GuideSpec, called=CalledGuide, default="self")

__all__ = ["GUIDES", "Guide", "GuideSpec"]
