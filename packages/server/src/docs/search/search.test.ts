import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { searchIndex, type SearchIndex } from './searchIndex.ts'

interface Found {
  readonly name: string
  readonly page: string
  readonly url: string
  readonly snippet: readonly [before: string, hit: string, after: string]
}

type Search = (query: string, max: number) => { readonly count: number; readonly found: readonly Found[] }

/** The script of the pages, which browsers load as it is. */
const script = new URL('../assets/search.js', import.meta.url).href
const { createSearch } = (await import(script)) as { readonly createSearch: (index: SearchIndex) => Search }

const PAGES = [
  {
    title: 'Guide',
    url: '/docs/api',
    html: [
      '<h1 id="guide">Guide</h1><p>How an order lives, in <code>two</code> sections.</p>',
      '<h2 id="lost-answers">Lost answers <a class="anchor" href="#lost-answers">#</a></h2>',
      `<p>${'Many words before it. '.repeat(10)}A &lt;clientId&gt; finds the order again.${' Many words after it.'.repeat(10)}</p>`,
      '<pre tabindex="0"><code>secretOfCode()</code></pre>',
    ].join('\n'),
  },
  {
    title: 'REST operations',
    url: '/docs/rest',
    html: [
      '<h1 id="rest-operations">REST operations</h1><h2 id="orders">Orders</h2>',
      '<h3 id="createorder">createOrder</h3><p>Prepares an order.</p>',
      '<table><tbody><tr id="createorder.chain"><td><code>chain</code></td><td>path</td></tr>',
      '<tr id="createorder.clientid"><td><code>clientId</code></td><td>string</td><td>Your own name.</td></tr></tbody></table>',
      '<h3 id="schema-order">Schema: Order</h3><p>An order.</p>',
      '<table><tbody><tr id="schema-order.clientid"><td><code>clientId</code></td><td>string</td></tr></tbody></table>',
    ].join('\n'),
    ownPageOf: (heading: string) => (heading === 'createOrder' ? '/docs/rest/createOrder' : undefined),
  },
  {
    title: 'Errors',
    url: '/docs/errors',
    html: '<h1 id="errors">Errors</h1><h3 id="nonce_reused">NONCE_REUSED</h3><p>Sign again.</p>',
  },
]

const search = createSearch(searchIndex(PAGES))
const urlsOf = (query: string): string[] => search(query, 20).found.map(({ url }) => url)

describe('the search', () => {
  it('finds titles, headings, fields and texts, in this order', () => {
    assert.deepEqual(urlsOf('order'), [
      '/docs/rest/createOrder',
      '/docs/rest#schema-order',
      '/docs/rest#orders',
      '/docs/api',
      '/docs/api#lost-answers',
    ])
  })

  it('puts the name itself before names that only begin with the words', () => {
    assert.deepEqual(urlsOf('clientid').slice(0, 2), [
      '/docs/rest/createOrder#createorder.clientid',
      '/docs/rest#schema-order.clientid',
    ])
    assert.deepEqual(urlsOf('schema: order clientId'), ['/docs/rest#schema-order.clientid'])
    assert.equal(urlsOf('errors')[0], '/docs/errors')
    assert.equal(urlsOf('nonce_reu')[0], '/docs/errors#nonce_reused')
  })

  it('wants every word, wherever in the entry it stands', () => {
    assert.deepEqual(urlsOf('guide lost'), ['/docs/api#lost-answers'])
    assert.deepEqual(urlsOf('  FINDS again '), ['/docs/api#lost-answers'])
    assert.deepEqual(urlsOf('order unicorn'), [])
    assert.deepEqual(search('   ', 5), { count: 0, found: [] })
  })

  it('leaves out code blocks, and the parameter that everything has', () => {
    assert.deepEqual(urlsOf('secretOfCode'), [])
    assert.deepEqual(urlsOf('createorder.chain'), [])
  })

  it('shows the hit between the words around it, as text', () => {
    const [found] = search('clientid finds', 20).found
    const [before, hit, after] = found!.snippet
    assert.match(before, /^….* before it\. A <$/)
    assert.equal(hit, 'clientId')
    assert.match(after, /^> finds the order again\..*…$/)
    assert.ok((before + hit + after).length < 200)
  })

  it('finds words together before words apart', () => {
    const texts = ['the signature is used as soon as it is there', 'a nonce is used up as soon as'].map((text, at) => ({
      title: `Page ${at}`,
      url: `/docs/${at}`,
      html: `<h1 id="x">X</h1><p>${text} up</p>`,
    }))
    const [first] = createSearch(searchIndex(texts))('used up as', 5).found
    assert.deepEqual([first!.url, first!.snippet[1]], ['/docs/1', 'used up as'])
  })

  it('says how many there are beyond those that it shows', () => {
    const { count, found } = search('order', 2)
    assert.deepEqual([count, found.length], [5, 2])
  })
})
