import type { Page, Request } from 'playwright-core'

/** Origins that the page may talk to: the service and, on the sandbox, the node of its chain. */
export interface AllowedOrigins {
  readonly service: () => string
  readonly node: string
}

/** Faults of a page that nobody looks at: errors on its console, requests that fail or that go elsewhere. */
export interface Complaints {
  /** Watches one more page. */
  watch(page: Page): void
  /** Names faults that the story itself causes. They are left out of the list. */
  expect(...patterns: readonly RegExp[]): void
  /** Returns the faults that nobody expected. */
  list(): string[]
  /** Returns true when the service said that it was not ready. Users then try again, and are asked once more. */
  wasNotReady(): boolean
}

/**
 * Answers by which the service says that it is not ready, for instance because the feed was silent for a moment on a
 * busy machine. They are no fault of the page, which has to wait them out.
 */
const NOT_READY = /\b503\b/

/** Candles of the past come from the price feed itself, and without it there are none for a moment. */
const NO_HISTORY = /\b502\b.*\/candles\b/

/** Error text of a request that the page itself gave up, or that ended with the page. */
const GIVEN_UP = 'net::ERR_ABORTED'

export function collectComplaints({ service, node }: AllowedOrigins): Complaints {
  const heard: string[] = []
  const expected: RegExp[] = [NOT_READY, NO_HISTORY]
  const origins = (): string[] => [service(), node].map((url) => new URL(url).host)

  function judgeAddress(url: string, what: string): void {
    if (/^(?:data|blob|about):/.test(url)) return
    if (!origins().includes(new URL(url).host)) heard.push(`${what} to another host: ${url}`)
  }
  function judgeFailure(request: Request): void {
    const reason = request.failure()?.errorText
    if (reason !== GIVEN_UP) heard.push(`${request.method()} ${request.url()} failed: ${reason}`)
  }

  return {
    watch(page) {
      page.on('console', (message) => {
        const type = message.type()
        if (type === 'error' || type === 'warning')
          heard.push(`console ${type}: ${message.text()} ${message.location().url}`)
      })
      page.on('pageerror', (error) => heard.push(`page error: ${error.stack ?? error.message}`))
      page.on('crash', () => heard.push('the page crashed'))
      page.on('request', (request) => judgeAddress(request.url(), 'request'))
      page.on('websocket', (socket) => judgeAddress(socket.url(), 'socket'))
      page.on('requestfailed', judgeFailure)
      page.on('response', (response) => {
        if (response.status() < 400) return
        const at = heard.push(`${response.status()} ${response.request().method()} ${response.url()}`) - 1
        void response.text().then(
          (answer) => (heard[at] += ` ${answer}`),
          () => undefined,
        )
      })
    },
    expect: (...patterns) => void expected.push(...patterns),
    wasNotReady: () => heard.some((text) => [NOT_READY, NO_HISTORY].some((answer) => answer.test(text))),
    list: () => heard.filter((text) => !expected.some((pattern) => pattern.test(text))),
  }
}
