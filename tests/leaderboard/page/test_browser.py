"""The page in a real browser, opened from disk. Skipped where there is none."""

from __future__ import annotations

import pathlib
import shutil
import time

import pytest

from bell_bench_leaderboard.page import make_page
from bell_bench_leaderboard.properties import read_rules
from tests.leaderboard.making import read, record, series

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
               None)  # fmt: skip
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not BROWSER, reason="no Chromium or Chrome is installed"),
    pytest.mark.skipif(not DRIVER, reason="no chromedriver is installed"),
]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900",
                     "--disable-dev-shm-usage"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> pathlib.Path:
    failed = record(EVIL, status="timeout", realisation=2, realisation_seed=32, learnt=(0.5,))
    old = [each | {"job": {k: v for k, v in each["job"].items() if k != "software"}}
           for each in series("old", (0.3, 0.4, 0.5))]  # fmt: skip
    records = [
        *series("sa", (0.5, 0.6, 0.7)), *series("picle", (0.6, 0.8, 0.9)), *old,
        *series(EVIL, (0.6, 0.7)), failed,
        *series("sa", (0.5, 0.6, 0.7), sequence="S_in"),
        *series("picle", (0.9, 0.8, 0.9), sequence="S_in"),
        *series("other", (0.5,), scale="paper"),
    ]  # fmt: skip
    for each in records:
        each["matrix"] = [[problem["accuracy_learnt"] for problem in each["problems"]]]
        each["check"] = "as recorded: no predictions"
    page = tmp_path_factory.mktemp("page") / "page.html"
    page.write_text(make_page(list(map(read, records)), read_rules()), encoding="utf-8")
    return page


@pytest.fixture
def opened(browser, file):
    """The page, freshly loaded; at the end its console must be empty."""
    browser.get_log("browser")
    browser.get(file.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def rows(driver, table="#results-table"):
    lines = driver.find_elements(By.CSS_SELECTOR, f"{table} tbody tr")
    return [line for line in lines if line.is_displayed()]


def texts(driver, column, table="#results-table"):
    cells = driver.find_elements(By.CSS_SELECTOR, f"{table} tbody tr > :nth-child({column})")
    return [cell.text.split("\n")[0] for cell in cells if cell.is_displayed()]


def heading(driver, title):
    buttons = driver.find_elements(By.CSS_SELECTOR, "#results-table thead button")
    return next(button for button in buttons if button.text == title)


def choose(driver, id, value):
    driver.find_element(By.CSS_SELECTOR, f"#{id} option[value='{value}']").click()


def test_headings_sort_both_ways(opened):
    button = heading(opened, "A")
    button.click()
    *down, missing, late, gone = texts(opened, 3)
    assert [float(text) for text in down] == sorted(map(float, down), reverse=True)
    assert {missing, late, gone} == {"missing", "timeout 1 of 3"}, "what has no figure comes last"
    button.send_keys(Keys.ENTER)
    *up, missing, late, gone = texts(opened, 3)
    assert up == down[::-1]
    assert {missing, late, gone} == {"missing", "timeout 1 of 3"}


def test_a_new_score_is_a_column_and_explained(opened, file, tmp_path):
    """Whatever scores the data has: the scripts know none by name but A."""
    new = '"scores":{"worst":{"title":"lowest","says":"of them all","digits":2},'
    page = tmp_path / "page.html"
    text = file.read_text(encoding="utf-8")
    page.write_text(text.replace('"scores":{', new), encoding="utf-8")
    opened.get(page.as_uri())
    assert heading(opened, "lowest").is_displayed()
    assert "of them all" in opened.find_element(By.ID, "reading").text


def test_filters_narrow_the_table(opened):
    everything = len(rows(opened))
    choose(opened, "sequence", "S_in")
    assert set(texts(opened, 2)) == {"S_in"}
    choose(opened, "sequence", "")
    opened.find_element(By.ID, "find").send_keys("PICLE s_pl")
    assert texts(opened, 1) == ["picle"]
    assert opened.find_element(By.ID, "count").text == f"1 of {everything} rows"
    choose(opened, "level", "jobs")
    assert len(rows(opened)) == 3, "the filter stays where the rows change"


def test_a_row_opens_its_provenance_by_mouse_and_by_keyboard(opened):
    dialog = opened.find_element(By.ID, "details")
    (line,) = [each for each in rows(opened) if each.text.startswith("old") and "S_pl" in each.text]
    line.click()
    assert dialog.is_displayed()
    opened.find_element(By.CSS_SELECTOR, "#details summary").click()
    assert "not recorded (older result)" in dialog.text
    assert "realisation_seed" in dialog.text
    dialog.send_keys(Keys.ESCAPE)
    assert not dialog.is_displayed()
    line.find_element(By.CSS_SELECTOR, "button").send_keys(Keys.ENTER)
    assert dialog.is_displayed()
    dialog.find_element(By.CSS_SELECTOR, ".close").click()
    assert not dialog.is_displayed()


def test_a_hostile_name_is_text(opened):
    assert EVIL in opened.find_element(By.ID, "results-table").text
    assert not opened.find_elements(By.CSS_SELECTOR, "img")
    (line,) = [each for each in rows(opened) if EVIL in each.text and "S_pl" in each.text]
    assert "timeout 1 of 3" in line.text
    line.click()
    assert EVIL in opened.find_element(By.ID, "details-title").text
    assert "missing" in opened.find_element(By.ID, "results-table").get_attribute("textContent")


def test_an_average_over_incomplete_rows_says_so(opened):
    (line,) = [each for each in rows(opened, "#overall-table") if each.text.startswith("picle")]
    assert "incomplete" not in line.text
    (line,) = [each for each in rows(opened, "#overall-table") if each.text.startswith("old")]
    assert "1 of 2: incomplete" in line.text


def test_charts_heat_map_matrices_and_properties_are_drawn(opened):
    assert len(opened.find_elements(By.CSS_SELECTOR, "#cost-charts figure svg")) == 4
    assert len(opened.find_elements(By.CSS_SELECTOR, "#budget-charts figure svg")) == 2
    heat = opened.find_element(By.ID, "heat-table").text
    assert "+16.67" in heat
    choose(opened, "matrix-sequence", "S_in")
    assert "87" in opened.find_element(By.ID, "matrix-grid").text
    verdict = opened.find_element(By.CSS_SELECTOR, "#property-table tbody button")
    verdict.click()
    told = opened.find_element(By.ID, "details").text
    assert "A − sa ≥ -1" in told
    assert "why" in told


TEN = {"sa": 0.7, "houdini": 0.72, "rs": 0.715, "mntdp-d": 0.725, "pt-only": 0.73, "nt-only": 0.72,
       "picle": 0.74, "o-ewc": 0.4, "er": 0.55, "lmc": 0.71}  # fmt: skip


@pytest.fixture
def crowded(opened, tmp_path):
    """Ten algorithms of hardly different costs, two of which forget; and one that was halted."""
    records = [
        each
        for name, score in TEN.items()
        for sequence in ("S_pl", "S_in")
        for each in series(name, [score + 0.01 * i for i in range(3)], sequence=sequence)
    ]
    for each in records:
        (problem,), name = each["problems"], each["job"]["algorithm"]
        cheap = name in ("sa", "o-ewc", "er")
        problem["resources"]["cpu_s"] = 10.0 if cheap else 300.0 + 9 * list(TEN).index(name)
        problem["accuracy_learnt"] += 0.2 if name in ("er", "o-ewc") else 0
    records += [*series("halted", (0.6, 0.7)), record("halted", status="timeout", realisation=2)]
    for each in records:
        each["matrix"] = [[problem["accuracy_final"] for problem in each["problems"]]]
        each["check"] = "as recorded: no predictions"
    page = tmp_path / "page.html"
    page.write_text(make_page(list(map(read, records)), read_rules()), encoding="utf-8")
    opened.get(page.as_uri())
    return opened


def test_no_two_algorithms_look_alike_and_all_are_seen(crowded):
    """A symbol that is no area would be drawn without ink."""
    marks = crowded.find_elements(By.CSS_SELECTOR, "#cost-charts .legend :is(path, circle)")
    shapes = [mark.get_attribute("d") or mark.tag_name for mark in marks]
    assert all(shape == "circle" or shape.endswith("Z") for shape in shapes)
    fills = [mark.find_element(By.XPATH, "..").get_attribute("fill") for mark in marks]
    assert len(set(zip(shapes, fills, strict=True))) == len(TEN) + 1


def test_no_name_hides_another(crowded):
    names = crowded.find_elements(By.CSS_SELECTOR, "#cost-charts figure:first-of-type text")
    boxes = [name.rect for name in names if name.text in TEN]
    assert len(boxes) == len(TEN)
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            apart = any(
                box[axis] + box[size] <= beside[axis] + 1
                for axis, size in (("x", "width"), ("y", "height"))
                for box, beside in ((one, other), (other, one))
            )
            assert apart, (one, other)


def test_what_is_incomplete_is_named_where_it_is_not_drawn(crowded):
    assert "halted" in crowded.find_element(By.ID, "undrawn").text
    (figure,) = [each for each in crowded.find_elements(By.CSS_SELECTOR, "#matrix-grid figure")
                 if each.text.startswith("halted")]  # fmt: skip
    assert figure.text.split("\n")[1:] == ["timeout 1 of 3"], "no mean over the two that were done"


@pytest.mark.parametrize("table", ["overall-table", "property-table"])
def test_no_column_of_ten_algorithms_is_cut_off_at_a_desk(crowded, table):
    room = "const box = document.getElementById(arguments[0]).parentElement;"
    needed, given = crowded.execute_script(
        f"{room} return [box.scrollWidth, box.clientWidth]", table
    )
    assert needed <= given


def test_another_setting_is_another_board(opened):
    choose(opened, "board", "1")
    assert texts(opened, 1) == ["other"]
    assert "no interval can be given" in opened.find_element(By.ID, "notes").text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_a_phone_and_a_desk_in_light_and_dark(opened, width, scheme):
    assert_fits(opened, width, scheme)


def assert_fits(opened, width, scheme):
    """Nothing is wider than the screen, and the background is what the reader prefers."""
    theme = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", theme)
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened.refresh()
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    background = "return getComputedStyle(document.body).backgroundColor"
    light = sum(map(int, opened.execute_script(background)[4:-1].split(",")))
    assert (light > 600) == (scheme == "light")
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_thousand_rows_are_sorted_without_a_wait(browser, tmp_path):
    names = [f"algorithm{number:02}" for number in range(20)]
    records = [
        each
        for name in names
        for sequence in range(10)
        for each in series(name, [0.5 + 0.01 * r for r in range(5)], sequence=f"S_{sequence}")
    ]
    page = tmp_path / "page.html"
    page.write_text(make_page(list(map(read, records)), read_rules()), encoding="utf-8")
    browser.get(page.as_uri())
    choose(browser, "level", "jobs")
    assert len(browser.find_elements(By.CSS_SELECTOR, "#results-table tbody tr")) == 1000
    button = heading(browser, "A")
    started = time.perf_counter()
    browser.execute_script("arguments[0].click(); void document.body.offsetHeight", button)
    assert time.perf_counter() - started < 5
    assert browser.get_log("browser") == []
