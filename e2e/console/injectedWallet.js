// An extension wallet as a page sees it: an EIP-1193 provider, announced by EIP-6963. What it is asked goes to the
// test through `askTestWallet`, which answers with a result or an error; the test tells events by `tellTestWallet`.
{
  const listeners = new Map()
  const provider = {
    async request({ method, params = [] }) {
      const { result, error } = JSON.parse(await globalThis.askTestWallet(JSON.stringify({ method, params })))
      if (error === undefined) return result
      throw Object.assign(new Error(error.message), { code: error.code })
    },
    on(name, listener) {
      listeners.set(name, [...(listeners.get(name) ?? []), listener])
      return provider
    },
    removeListener(name, listener) {
      listeners.set(
        name,
        (listeners.get(name) ?? []).filter((each) => each !== listener),
      )
      return provider
    },
  }
  const icon =
    'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>'
  const info = Object.freeze({
    uuid: '350670db-19fa-4704-a166-e52e178b59d2',
    name: 'Test Wallet',
    icon,
    rdns: 'org.bezel.testwallet',
  })
  const announce = () => {
    const detail = Object.freeze({ info, provider })
    globalThis.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  }
  globalThis.tellTestWallet = (name, value) => {
    for (const listener of listeners.get(name) ?? []) listener(value)
  }
  globalThis.addEventListener('eip6963:requestProvider', announce)
  announce()
}
