import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { highlight, renderMarkdown } from './renderMarkdown.ts'
import { rewriteLinks, table } from './writeMarkdown.ts'

const render = (markdown: string) => renderMarkdown(markdown, { urlOf: (href) => href })

/** Lists everything that looks like a tag, without the tags that the renderer itself writes. */
const foreignTags = (html: string): string[] =>
  [...html.matchAll(/<\/?([a-z][\w-]*)/gi)]
    .map(([, name]) => name!)
    .filter(
      (name) =>
        !/^(?:p|h\d|a|code|pre|span|div|table|thead|tbody|tr|th|td|ul|ol|li|em|strong|b|br|hr|del|blockquote|input|figure|figcaption)$/.test(
          name,
        ),
    )

describe('a page', () => {
  it('shows tags and never means them, wherever they stand', () => {
    const tag = '<script>alert(1)</script>'
    for (const markdown of [
      tag,
      `a ${tag} b`,
      `# ${tag}`,
      `\`${tag}\``,
      `\`\`\`js\n${tag}\n\`\`\``,
      `| a |\n|---|\n| ${tag} |`,
      `- ${tag}`,
      `[${tag}](x.md)`,
      `![${tag}](x.svg)`,
    ]) {
      const { html } = render(markdown)
      assert.ok(!html.includes('<script'), markdown)
      assert.ok(html.includes('&lt;script&gt;'), markdown)
    }
    assert.ok(!render('<img src=x onerror=alert(1)>').html.includes('<img'))
    assert.ok(!render('[a](x"onclick="alert\\(1\\))').html.includes('"onclick'))
  })

  it('has no tags but its own, whatever it says', () => {
    const text = fc.array(
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '&',
        '`',
        '|',
        '[',
        ']',
        '(',
        ')',
        '\n',
        '#',
        ' ',
        'script',
        'img',
        '```',
        '*',
        '!',
        '-',
        'x:',
      ),
      {
        maxLength: 40,
      },
    )
    fc.assert(
      fc.property(text, (parts) => {
        assert.deepEqual(foreignTags(render(parts.join('')).html), [])
      }),
      { numRuns: 2_000 },
    )
  })

  it('gives headings the anchors that code hosts give them, each its own', () => {
    const { headings, html } = render(
      '# A page\n## POST /hl/{chain}/info\n## What `is` it?\n## Again\n## Again\n### `A_CODE`\n## Again-1',
    )
    assert.deepEqual(
      headings.map(({ id }) => id),
      ['a-page', 'post-hlchaininfo', 'what-is-it', 'again', 'again-1', 'a_code', 'again-1-1'],
    )
    for (const { id } of headings) assert.ok(html.includes(`id="${id}"`), id)
  })

  it('leaves the text of a link that leads nowhere', () => {
    const { html } = renderMarkdown('see [the file](x.ts)', { urlOf: () => undefined })
    assert.equal(html, '<p>see the file</p>\n')
  })

  it('shows a method and a path as a request', () => {
    assert.match(
      render('`POST /v1/{chain}/orders`').html,
      /<code class="request"><b class="post">POST<\/b> \/v1\/\{chain\}\/orders<\/code>/,
    )
    assert.match(render('`POST it`').html, /<code>POST it<\/code>/)
  })

  it('gives rows that begin with a name an anchor of their own, below that of their section', () => {
    const head = '| Field | |\n|---|---|\n'
    const { html } = render(
      `# Order\n${head}| \`clientId\` | a |\n| b | c |\n| \`a[].b\` | d |\n\n${head}| \`clientId\` | e |`,
    )
    const ids = [...html.matchAll(/<tr id="([^"]+)">\s*<td>([^\n]*)<\/td>/g)].map(([, id, cell]) => [id, cell])
    assert.deepEqual(ids, [
      ['order.clientid', '<code>clientId</code>'],
      ['order.a-.b', '<code>a[].b</code>'],
      ['order.clientid-1', '<code>clientId</code>'],
    ])
  })

  it('labels a block of code whose fence has a second word', () => {
    assert.match(render('```sh curl\nx\n```').html, /^<figure class="tab"><figcaption>curl<\/figcaption><pre/)
    assert.match(render('```sh\nx\n```').html, /^<pre/)
  })

  it('wraps tables, and leaves out a head without words', () => {
    assert.match(render('| a |\n|---|\n| b |').html, /<div class="table" tabindex="0"><table>\s*<thead>/)
    assert.ok(!render('| | |\n|---|---|\n| b | c |').html.includes('<thead>'))
  })
})

describe('highlighted code', () => {
  it('is the code, when the tags are taken away', () => {
    const code = fc.array(
      fc.constantFrom('"', "'", '`', '\\', '\n', ' ', 'const', '1', '//', '#', '{', '}', ':', '<b>', '&', 'a', '$X'),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(code, fc.constantFrom('js', 'ts', 'json', 'python', 'sh', 'text', ''), (parts, language) => {
        const html = highlight(parts.join(''), language)
        const plain = html.replaceAll(/<\/?span[^>]*>/g, '')
        const back = plain
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&')
        assert.equal(back, parts.join(''))
      }),
      { numRuns: 2_000 },
    )
    assert.match(
      highlight('{"a": 1}', 'json'),
      /<span class="name">&quot;a&quot;<\/span>: <span class="number">1<\/span>/,
    )
  })
})

describe('a table', () => {
  it('keeps bars, new lines and tags inside of their cells', () => {
    const text = table(
      ['a|b', 'c'],
      [
        ['x\ny', '`p|q`'],
        ['<b>', '`<b>`'],
      ],
    )
    const { html } = render(text)
    assert.equal([...html.matchAll(/<tr>/g)].length, 3)
    assert.equal([...html.matchAll(/<t[dh]>/g)].length, 6)
    assert.ok(
      html.includes('<code>p|q</code>') &&
        html.includes('<code>&lt;b&gt;</code>') &&
        html.includes('<td>&lt;b&gt;</td>'),
    )
    assert.equal(table(['a'], []), '')
  })
})

describe('rewritten links', () => {
  it('changes targets that are known, and nothing in code', () => {
    const urlOf = (href: string): string | undefined => (href === 'a.md' ? '/docs/a.md' : undefined)
    assert.equal(
      rewriteLinks('[a](a.md) [`b`](a.md) `[c](a.md)` [d](d.md)\n\n```js\n[e](a.md)\n```\n[f](a.md)', urlOf),
      '[a](/docs/a.md) [`b`](/docs/a.md) `[c](a.md)` [d](d.md)\n\n```js\n[e](a.md)\n```\n[f](/docs/a.md)',
    )
  })
})
