// Adds copy buttons, the search over headings, and the mark of the current section. The pages work without it.

for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    button.textContent = await copied(block.querySelector('code').textContent)
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  const holder = document.createElement('div')
  holder.className = 'block'
  block.replaceWith(holder)
  holder.append(block, button)
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

const input = document.querySelector('#search')
const list = document.querySelector('#found')
const MAX_FOUND = 12
let headings

async function find() {
  headings ??= (await import('/docs/headings.js')).default
  // Read after the module has loaded: more may have been typed meanwhile.
  const words = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const found = words.length === 0 ? [] : headings.filter(([text, page]) => matches(`${text} ${page}`, words))
  // Headings that begin with the typed text come first.
  const first = found.filter(([text]) => text.toLowerCase().startsWith(words[0]))
  const shown = [...first, ...found.filter((entry) => !first.includes(entry))].slice(0, MAX_FOUND)
  list.replaceChildren(...shown.map(entryOf))
  if (words.length > 0 && shown.length === 0) list.append(nothing())
  list.hidden = words.length === 0
}

function matches(text, words) {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}

function entryOf([text, page, url]) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  const small = document.createElement('small')
  link.href = url
  small.textContent = page
  link.append(text, small)
  item.append(link)
  return item
}

function nothing() {
  const item = document.createElement('li')
  item.className = 'nothing'
  item.textContent = 'No heading says that'
  return item
}

function move(step) {
  const links = [...list.querySelectorAll('a')]
  const index = links.indexOf(document.activeElement) + step
  if (index < 0) input.focus()
  else links[Math.min(index, links.length - 1)]?.focus()
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
  if (!event.target.closest('.search')) list.hidden = true
  if (event.target.closest('#found a')) close()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input')) return
  event.preventDefault()
  input.focus()
})

function close() {
  list.hidden = true
  input.blur()
}

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
