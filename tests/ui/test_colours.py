"""Contrast of the colours in both themes: text as WCAG AA wants it, marks and lines as its rule for graphics does."""

import tomllib

import pytest

from debugger_ui.components.registry import PACKAGE

THEME = tomllib.loads((PACKAGE / "theme.toml").read_text("utf-8"))["theme"]
THEMES = ("light", "dark")
HUES = ("gray", "green", "blue", "orange", "red", "violet")
TEXT, GRAPHICS = 4.5, 3.0


def luminance(colour):
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_scale_is_that_of_the_standard():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("hue", HUES)
def test_words_and_marks_can_be_read_wherever_they_stand(theme, hue):
    colours = THEME[theme]
    grounds = ("backgroundColor", "secondaryBackgroundColor", "blueBackgroundColor", f"{hue}BackgroundColor")
    for ground in grounds:
        assert contrast(colours[f"{hue}TextColor"], colours[ground]) >= TEXT, ground
    assert contrast(colours["textColor"], colours[f"{hue}BackgroundColor"]) >= TEXT
    assert contrast(colours[f"{hue}Color"], colours["backgroundColor"]) >= GRAPHICS


@pytest.mark.parametrize("theme", THEMES)
def test_the_main_button_can_be_read(theme):
    colours = THEME[theme]
    style = (PACKAGE / "panels" / "style.css").read_text("utf-8")
    on_it = "#ffffff"
    if theme == "dark":
        on_it = colours["backgroundColor"]
        assert f'[data-testid="stBaseButton-primaryFormSubmit"] {{ color: {on_it}; }}' in style
    assert contrast(on_it, colours["primaryColor"]) >= TEXT
    assert contrast(colours["primaryColor"], colours["blueBackgroundColor"]) >= TEXT
