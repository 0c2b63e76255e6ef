import type { DocsPage } from './docsPages.ts'
import { escapeHtml } from './markdown/escapeHtml.ts'
import type { Heading } from './markdown/renderMarkdown.ts'
import { pageUrl } from './servedUrl.ts'

/** What a page is put into. */
export interface LayoutOptions {
  readonly pages: readonly DocsPage[]
  /** `undefined` for a page that does not exist. */
  readonly page: DocsPage | undefined
  readonly headings: readonly Heading[]
  readonly html: string
  /** Addresses of the stylesheet and the script. */
  readonly assets: { readonly style: string; readonly script: string }
}

/** A whole page: navigation, text, what is on it. Nothing in it is inline but the text itself, so the strictest policy suits it. */
export function layout({ pages, page, headings, html, assets }: LayoutOptions): string {
  const title = page === undefined ? 'Not found' : page.title
  const list = contents(headings)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Bezel</title>
<meta name="description" content="${escapeHtml(page?.summary ?? 'There is no such page.')}">
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
${page === undefined ? '' : `<link rel="alternate" type="text/markdown" href="${pageUrl(page.slug, 'md')}">\n`}<script src="${assets.script}" type="module"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="home" href="/docs"><img src="/docs/icon.svg" alt="" width="24" height="24">Bezel</a>
<a class="menu" href="#pages">Pages</a>
<div class="search"><input id="search" type="search" placeholder="Search headings" aria-label="Search headings" autocomplete="off" spellcheck="false"><ol id="found" hidden></ol></div>
</header>
<div class="columns">
<main id="text" class="${page?.slug ?? 'missing'}">
${foldedContents(list)}${html}${page === undefined ? '' : footer(pages, page)}</main>
<nav id="pages" aria-label="Pages">
${navigation(pages, page)}
</nav>
<aside aria-label="On this page">${list === '' ? '' : `<h2>On this page</h2>\n${list}`}</aside>
</div>
</body>
</html>
`
}

function navigation(pages: readonly DocsPage[], current: DocsPage | undefined): string {
  return [...Map.groupBy(pages, ({ section }) => section)]
    .map(([section, own]) => {
      const links = own.map((page) => {
        const mark = page.slug === current?.slug ? ' aria-current="page"' : ''
        return `<li><a href="${pageUrl(page.slug, 'html')}"${mark}>${escapeHtml(page.title)}</a></li>`
      })
      return `<h2>${section}</h2>\n<ul>\n${links.join('\n')}\n</ul>`
    })
    .join('\n')
}

/** Deeper headings are found by reading, or by the search. */
function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (shown.length < 2) return ''
  const links = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  )
  return `<ul>\n${links.join('\n')}\n</ul>`
}

/** The same list for narrow screens, which have no room beside the text. */
function foldedContents(list: string): string {
  return list === '' ? '' : `<details class="contents"><summary>On this page</summary>\n${list}\n</details>\n`
}

function footer(pages: readonly DocsPage[], page: DocsPage): string {
  const index = pages.findIndex(({ slug }) => slug === page.slug)
  const links = [
    ['prev', pages[index - 1]],
    ['next', pages[index + 1]],
  ] as const
  const steps = links.map(([rel, to]) =>
    to === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${pageUrl(to.slug, 'html')}"><small>${rel === 'prev' ? 'Before' : 'Next'}</small>${escapeHtml(to.title)}</a>`,
  )
  return `<footer><div class="steps">${steps.join('')}</div><p>This page as <a href="${pageUrl(page.slug, 'md')}">markdown</a> · all of them in <a href="/llms.txt">llms.txt</a></p></footer>\n`
}
