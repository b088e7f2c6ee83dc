"""A lost reader gets the book's own page, from which every link leads on."""

from playwright.sync_api import Browser


def test_lost_readers_get_the_books_own_page(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    answer = page.goto(f"{address}/no/such/page.html")
    assert answer
    assert answer.status == 404
    page.get_by_role("heading", name="There is no such page").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips the menus, and leads nowhere else
    assert page.url == f"{address}/no/such/page.html#main-content"
    page.locator("article").get_by_role("link", name="glossary").click()
    page.wait_for_url("**/chapters/glossary.html")
    page.get_by_role("heading", name="Glossary").wait_for()
    page.close()
