// Returns the problems of the page that stand in the way of a reader with a keyboard, a screen reader or weak eyes: the
// rules of WCAG 2.1 AA that can be judged from the page alone. An expression, evaluated in the page.
;(() => {
  const problems = []
  const all = [...document.querySelectorAll('body *')]
  const shown = all.filter((node) => node.checkVisibility({ visibilityProperty: true }))
  const note = (rule, node) => problems.push(`${rule}: ${node.outerHTML.slice(0, 120)}`)

  const ids = all.map(({ id }) => id).filter(Boolean)
  for (const id of ids.filter((one, at) => ids.indexOf(one) !== at)) problems.push(`id twice: ${id}`)
  if (document.documentElement.lang === '' || document.title === '') problems.push('no language or no title')
  if (document.querySelectorAll('main').length !== 1) problems.push('not one main')
  if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1')

  // Names of everything that can be used.
  const textOf = (node) =>
    node.textContent.trim() || [...node.querySelectorAll('img[alt]')].map(({ alt }) => alt).join('')
  const nameOf = (node) =>
    node.getAttribute('aria-label') ||
    (node.getAttribute('aria-labelledby') && textOf(document.getElementById(node.getAttribute('aria-labelledby')))) ||
    [...(node.labels ?? [])].map(textOf).join('') ||
    (node.matches('a, button, summary') ? textOf(node) : '')
  for (const node of shown.filter((one) => one.matches('a[href], button, input, select, textarea, summary'))) {
    if (!nameOf(node)) note('no name', node)
  }
  for (const node of all.filter((one) => one.matches('img:not([alt]), svg:not([aria-hidden], [role])')))
    note('no text', node)

  // References, roles and lists.
  for (const node of all) {
    for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls']) {
      for (const id of (node.getAttribute(name) ?? '').split(' ').filter(Boolean)) {
        if (document.getElementById(id) === null) note(`${name} leads nowhere`, node)
      }
    }
    if (node.matches('[role=tab]') && node.parentElement.role !== 'tablist') note('tab outside of a list', node)
    if (node.matches('li') && !node.parentElement.matches('ul, ol')) note('item outside of a list', node)
    if (node.matches('ul, ol') && [...node.children].some((child) => !child.matches('li')))
      note('list with others', node)
    if (node.matches('th') && textOf(node) === '') note('empty heading of a column', node)
    if (node.matches('[tabindex]') && node.tabIndex > 0) note('order of the Tab key', node)
  }
  const landmarks = shown
    .filter((one) => one.matches('nav, aside, section[aria-label], section[aria-labelledby]'))
    .map(nameOf)
  if (new Set(landmarks).size !== landmarks.length) problems.push(`landmarks of one name: ${landmarks.join(', ')}`)

  // Headings go down by one level at a time.
  let level = 0
  for (const node of document.querySelectorAll('main :is(h1, h2, h3, h4)')) {
    const own = Number(node.tagName[1])
    if (own > level + 1) note(`heading after level ${level}`, node)
    level = own
  }

  // A block that scrolls can be reached by the keyboard.
  for (const node of shown) {
    const { overflowX, overflowY } = getComputedStyle(node)
    const scrollsX = /auto|scroll/.test(overflowX) && node.scrollWidth > node.clientWidth + 1
    const scrollsY = /auto|scroll/.test(overflowY) && node.scrollHeight > node.clientHeight + 1
    if (!scrollsX && !scrollsY) continue
    const isReached =
      node.matches('[tabindex], input, textarea, select') ||
      node.querySelector('a[href], button, [tabindex="0"], input')
    if (!isReached) note('scrolls, but not by keyboard', node)
  }

  // Contrast of every text that is shown.
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number)
  const light = (colour) =>
    channels(colour)
      .slice(0, 3)
      .map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0)
  const groundOf = (node) => {
    for (let one = node; one !== null; one = one.parentElement) {
      const { backgroundColor } = getComputedStyle(one)
      if ((channels(backgroundColor)[3] ?? 1) === 1) return backgroundColor
    }
    return 'rgb(255, 255, 255)'
  }
  const opacityOf = (node) => {
    let product = 1
    for (let one = node; one !== null; one = one.parentElement) product *= Number(getComputedStyle(one).opacity)
    return product
  }
  for (const node of shown) {
    const hasText = [...node.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '')
    if (!hasText || node.closest('svg') !== null || node.matches(':disabled')) continue
    const { color, fontSize, fontWeight } = getComputedStyle(node)
    const [low, high] = [light(color), light(groundOf(node))].toSorted((one, other) => one - other)
    const isLarge =
      Number.parseFloat(fontSize) >= 24 || (Number.parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700)
    const ratio = (high + 0.05) / (low + 0.05)
    // What is transparent is shown on hover and focus, in full.
    if (ratio < (isLarge ? 3 : 4.5) && opacityOf(node) > 0) note(`contrast ${ratio.toFixed(2)}`, node)
  }
  return problems
})()
