"""Languages by two letters, as people write them, and as NLLB, Marian and Apertium do."""

from __future__ import annotations

# ISO 639-1 and 639-3, with the very language where 639-3 has a group of them (ar, et, fa, lv, ms, no, sq, sw ...)
CODES = """
af:afr am:amh ar:arb as:asm az:azj be:bel bg:bul bn:ben br:bre bs:bos ca:cat cs:ces cy:cym da:dan de:deu el:ell
en:eng eo:epo es:spa et:est eu:eus fa:pes fi:fin fr:fra ga:gle gl:glg gu:guj ha:hau he:heb hi:hin hr:hrv hu:hun
hy:hye id:ind is:isl it:ita ja:jpn ka:kat kk:kaz km:khm kn:kan ko:kor ky:kir lb:ltz lo:lao lt:lit lv:lvs mk:mkd
ml:mal mn:khk mr:mar ms:zsm mt:mlt my:mya nb:nob ne:npi nl:nld nn:nno no:nob oc:oci pa:pan pl:pol pt:por ro:ron
ru:rus sd:snd si:sin sk:slk sl:slv so:som sq:als sr:srp sv:swe sw:swh ta:tam te:tel tg:tgk th:tha tl:tgl tr:tur
uk:ukr ur:urd uz:uzn vi:vie xh:xho yi:ydd yo:yor zh:zho zu:zul
"""
THREE_LETTERS = dict(pair.split(":") for pair in CODES.split())


def three_letters(language: str) -> str:
    """The three-letter code of a language; one that is not known here stays as it is."""
    return THREE_LETTERS.get(language, language)
