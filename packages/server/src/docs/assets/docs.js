// Adds copy buttons, tabs, the search, this page's own address in code, and the mark of the current section. The pages
// work without it.

showOwnAddress()
addCopyButtons()
for (const first of document.querySelectorAll('.tab:not(.tab + .tab)')) addTabs(first)
leaveFixedBlocks()
addSearch()
markCurrentSection()

/** Puts the address that this page came from into its code, where the operator has not named another one. */
function showOwnAddress() {
  const { base } = document.documentElement.dataset
  if (base === undefined || base === location.origin) return
  for (const code of document.querySelectorAll('main code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { currentNode: text } = walker
      text.data = text.data
        .replaceAll(base, location.origin)
        .replaceAll(base.replace('http', 'ws'), location.origin.replace('http', 'ws'))
    }
  }
}

function addCopyButtons() {
  for (const block of document.querySelectorAll('pre')) {
    const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
    button.addEventListener('click', async () => {
      button.textContent = await copied(block.querySelector('code').textContent)
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
    const holder = element('div', { className: 'block' })
    block.replaceWith(holder)
    holder.append(block, button)
  }
}

/**
 * Copies a text and returns the label for the button. The clipboard exists on secure origins only (HTTPS and this
 * machine); elsewhere the text is selected by hand.
 */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return 'Copied'
  } catch {
    return 'Select it'
  }
}

/** Turns blocks of code that follow each other into tabs. The chosen client is remembered for the other pages. */
function addTabs(first) {
  const panels = [first]
  while (panels.at(-1).nextElementSibling?.classList.contains('tab')) panels.push(panels.at(-1).nextElementSibling)
  const list = element('div', { className: 'tab-list', role: 'tablist' })
  list.setAttribute('aria-label', 'Clients')
  const group = element('div', { className: 'tabs' })
  first.before(group)
  const tabs = panels.map((panel, at) => {
    const name = panel.querySelector('figcaption').textContent
    panel.querySelector('figcaption').remove()
    panel.id = `code-${at}`
    panel.role = 'tabpanel'
    const tab = element('button', { type: 'button', id: `tab-${at}`, role: 'tab', textContent: name })
    tab.setAttribute('aria-controls', panel.id)
    panel.setAttribute('aria-labelledby', tab.id)
    tab.addEventListener('click', () => choose(at, true))
    return tab
  })
  list.append(...tabs)
  group.append(list, ...panels)
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (step === undefined) return
    const next = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length
    choose(next, true)
    tabs[next].focus()
  })

  function choose(chosen, isByReader) {
    for (const [at, tab] of tabs.entries()) {
      tab.ariaSelected = String(at === chosen)
      tab.tabIndex = at === chosen ? 0 : -1
      panels[at].hidden = at !== chosen
    }
    if (isByReader) remember(tabs[chosen].textContent)
  }
  choose(
    Math.max(
      0,
      tabs.findIndex((tab) => tab.textContent === remembered()),
    ),
    false,
  )
}

function remembered() {
  try {
    return localStorage.getItem('client')
  } catch {
    return null
  }
}

function remember(client) {
  try {
    localStorage.setItem('client', client)
  } catch {
    // A browser that stores nothing shows the first tab again.
  }
}

/** Takes blocks out of the order of the Tab key while they do not scroll: a narrower window may make them do so. */
function leaveFixedBlocks() {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const { scrollWidth, clientWidth } = target
      if (clientWidth > 0 && scrollWidth <= clientWidth) target.removeAttribute('tabindex')
      else target.tabIndex = 0
    }
  })
  for (const block of document.querySelectorAll('.table, .picture, pre')) observer.observe(block)
}

function addSearch() {
  const input = document.querySelector('#search')
  const list = document.querySelector('#found')
  const count = document.querySelector('#count')
  const MAX_FOUND = 12
  let loading

  /** Loads the index, once, when somebody is about to search. */
  async function load() {
    const [{ createSearch }, index] = await Promise.all([import('/docs/search.js'), import('/docs/index.js')])
    return createSearch(index.default)
  }

  async function find() {
    loading ??= load()
    const search = await loading
    // Read after the index has loaded: more may have been typed meanwhile.
    const found = search(input.value, MAX_FOUND)
    const isEmpty = input.value.trim() === ''
    list.replaceChildren(...found.found.map(entryOf))
    list.hidden = found.count === 0
    count.textContent = isEmpty ? '' : countText(found.count)
    count.classList.toggle('nothing', !isEmpty && found.count === 0)
  }

  function countText(total) {
    if (total === 0) return 'Nothing says that'
    return total > MAX_FOUND ? `${MAX_FOUND} of ${total} places` : `${total} ${total === 1 ? 'place' : 'places'}`
  }

  function move(step) {
    const links = [...list.querySelectorAll('a')]
    const index = links.indexOf(document.activeElement) + step
    if (index < 0) input.focus()
    else links[Math.min(index, links.length - 1)]?.focus()
  }

  function close() {
    list.hidden = true
    count.textContent = ''
    count.classList.remove('nothing')
    input.blur()
  }

  input.addEventListener('input', find)
  input.addEventListener('focus', find)
  document.querySelector('.search').addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click()
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  })
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.search') || event.target.closest('#found a')) close()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.closest('input, textarea, select')) return
    event.preventDefault()
    input.focus()
  })
}

function entryOf({ name, page, url, snippet }) {
  const item = element('li')
  const link = element('a', { href: url })
  const title = element('span', { className: 'found-name' })
  title.append(name, element('small', { textContent: page }))
  link.append(title)
  const [before, hit, after] = snippet
  if (before + hit !== '') {
    const text = element('span', { className: 'found-text' })
    text.append(before, element('mark', { textContent: hit }), after)
    link.append(text)
  }
  item.append(link)
  return item
}

function markCurrentSection() {
  const links = new Map([...document.querySelectorAll('aside a')].map((link) => [link.hash.slice(1), link]))
  const watcher = new IntersectionObserver(
    (entries) => {
      const seen = entries.filter(({ isIntersecting }) => isIntersecting).at(-1)
      if (seen === undefined) return
      for (const link of links.values()) link.removeAttribute('aria-current')
      const link = links.get(seen.target.id)
      link?.setAttribute('aria-current', 'true')
      if (link?.offsetParent) link.scrollIntoView({ block: 'nearest' })
    },
    { rootMargin: '-10% 0px -75% 0px' },
  )
  for (const id of links.keys()) {
    const heading = document.getElementById(id)
    if (heading !== null) watcher.observe(heading)
  }
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties)
}
