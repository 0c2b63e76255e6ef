// Draws the form that sends the operation of a page, and shows the answer. A key stays in its field and is never kept.

const form = JSON.parse(document.querySelector('main').dataset.form)
const SHOWN_CHARS = 100_000
const CREDENTIALS = {
  none: 'None needed',
  key: 'Read-only key',
  'agent-1': 'Signed as agent-1 of the sandbox',
}

const fields = new Map(form.fields.map((field) => [field, inputOf(field)]))
const body = form.body === undefined ? undefined : element('textarea', { id: 'try-body', rows: 8, value: form.body })
if (body !== undefined) body.spellcheck = false
const credential = element('select', { id: 'try-credential' })
credential.append(...form.credentials.map((name) => element('option', { value: name, textContent: CREDENTIALS[name] })))
const key = element('input', { id: 'try-key', type: 'password', autocomplete: 'off', placeholder: 'bz_…' })
const keyRow = row('API key', key, 'Stays in this field; leaving the page forgets it.')
const status = element('p', { className: 'try-status', role: 'status' })
const headers = element('table')
const answer = element('code')
const shown = answerBlock()
const button = element('button', { type: 'submit', textContent: 'Send' })

draw()

/** Puts the form below the snippets, which say the same in code. */
function draw() {
  const section = element('section', { className: 'try' })
  const title = element('h2', { id: 'try-it', textContent: 'Try it' })
  section.setAttribute('aria-labelledby', title.id)
  const sender = element('form')
  const rows = [...fields].map(([field, input]) => row(field.name, input, field.hint, field.isRequired))
  if (body !== undefined) rows.push(row('Body', body, 'JSON, sent exactly as it stands here.'))
  if (form.credentials.length > 1) rows.push(row('Credentials', credential, ''))
  if (form.credentials.includes('key')) rows.push(keyRow)
  const note = element('p', { className: 'quiet', textContent: noteOf() })
  sender.append(...rows, note, button)
  sender.addEventListener('submit', (event) => {
    event.preventDefault()
    void send()
  })
  credential.addEventListener('change', showKey)
  showKey()
  section.append(title, sender, status, shown)
  const places = document.querySelectorAll('main > .tabs, main > .tab')
  ;(places[places.length - 1] ?? document.querySelector('main > p:last-of-type')).after(section)
}

function noteOf() {
  const [first] = form.credentials
  if (form.method !== 'GET' && first === 'agent-1')
    return 'Sent to the sandbox, signed as agent-1. It prepares a transaction and sends none to the chain.'
  return first === 'none' ? 'Sent by your browser, without credentials.' : 'Sent by your browser to this service only.'
}

function showKey() {
  keyRow.hidden = credential.value !== 'key'
}

function inputOf({ name, value, choices, isRequired }) {
  if (choices === undefined) {
    const input = element('input', {
      id: `try-${name}`,
      type: 'text',
      value,
      required: isRequired,
      autocomplete: 'off',
    })
    input.spellcheck = false
    return input
  }
  const select = element('select', { id: `try-${name}` })
  const options = isRequired ? choices : ['', ...choices]
  select.append(...options.map((choice) => element('option', { value: choice, textContent: choice || '(default)' })))
  if (value !== '') select.value = value
  return select
}

function row(name, input, hint, isRequired = false) {
  const holder = element('div', { className: 'try-row' })
  const label = element('label', { htmlFor: input.id, textContent: name })
  if (isRequired) label.append(element('small', { textContent: ' required' }))
  holder.append(label, input)
  if (hint !== '') {
    const text = element('small', { id: `${input.id}-hint`, textContent: hint.replaceAll('`', '') })
    input.setAttribute('aria-describedby', text.id)
    holder.append(text)
  }
  return holder
}

/** The block of the answer, hidden until there is one. */
function answerBlock() {
  const block = element('div', { hidden: true })
  const more = element('details')
  more.append(element('summary', { textContent: 'Headers' }), headers)
  const text = element('pre', { tabIndex: 0 })
  text.role = 'region'
  text.setAttribute('aria-label', 'Answer')
  text.append(answer)
  block.append(more, text)
  return block
}

async function send() {
  button.disabled = true
  status.textContent = 'Waiting for the answer …'
  try {
    const path = pathOf()
    const text = body?.value
    const sent = {
      ...(await credentialsOf(path, text)),
      ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
    }
    const started = performance.now()
    const got = await fetch(path, {
      method: form.method,
      headers: sent,
      ...(text === undefined ? {} : { body: text }),
      credentials: 'omit',
      cache: 'no-store',
    })
    const content = await got.text()
    show(got, content, Math.round(performance.now() - started))
  } catch (error) {
    shown.hidden = true
    status.textContent = `Nothing was answered: ${error.message}`
  } finally {
    button.disabled = false
  }
}

/** Returns the path with its query, exactly as the browser sends it. */
function pathOf() {
  let path = form.path
  const query = new URLSearchParams()
  for (const [{ name, in: place }, input] of fields) {
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(input.value.trim()))
    else if (input.value.trim() !== '') query.set(name, input.value.trim())
  }
  const { pathname, search } = new URL(query.size === 0 ? path : `${path}?${query}`, location.origin)
  return pathname + search
}

async function credentialsOf(path, text) {
  const { headerPrefix, method, operationId } = form
  if (credential.value === 'none') return {}
  if (credential.value === 'key') return { [`${headerPrefix}Api-Key`]: key.value.trim() }
  const { sandboxKey, signRequest } = await import('/docs/sign.js')
  const signing = await signingOf()
  const timestamp = Date.now()
  const nonce = timestamp * 1000 + Math.floor(Math.random() * 1000)
  const request = { operationId, method, path, body: text ?? '', timestamp, nonce }
  return {
    [`${headerPrefix}Agent`]: form.agent,
    [`${headerPrefix}Timestamp`]: String(timestamp),
    [`${headerPrefix}Nonce`]: String(nonce),
    [`${headerPrefix}Signature`]: signRequest(sandboxKey('agent-1'), signing, request),
  }
}

/** Reads the signing domain of the chain that the request names, else of the first that is served. */
async function signingOf() {
  const chosen = [...fields].find(([{ name }]) => name === 'chain')?.[1].value
  const got = await fetch(`/v1/${chosen ?? form.chain}`, { credentials: 'omit' })
  return (await got.json()).signing
}

function show(got, content, ms) {
  const bytes = new TextEncoder().encode(content).length
  const hint = form.credentials.includes('agent-1') && /"AGENT_(?:UNKNOWN|NOT_DELEGATED)"/.test(content)
  status.textContent = `${got.status} ${got.statusText} in ${ms} ms, ${bytes.toLocaleString('en')} bytes.${
    hint ? ' Authorise agent-1 first: npx bezel agent authorise' : ''
  }`
  status.classList.toggle('failed', !got.ok)
  headers.replaceChildren(
    ...[...got.headers].map(([name, value]) => {
      const line = element('tr')
      const head = element('th', { textContent: name, scope: 'row' })
      line.append(head, element('td', { textContent: value }))
      return line
    }),
  )
  const text = prettyOf(content)
  answer.textContent = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}\n… and more` : text
  shown.hidden = false
}

function prettyOf(content) {
  try {
    return JSON.stringify(JSON.parse(content), undefined, 2)
  } catch {
    return content
  }
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties)
}
