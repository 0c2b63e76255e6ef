import type { Lie } from './faultyProxy.ts'

const NO_BLOOM = `0x${'0'.repeat(512)}`

/** Wrong answers that nodes, and the gateways in front of them, give in practice. */
export const LIES: Readonly<Record<string, Lie>> = {
  'a page of a gateway': async () => ({ status: 502, text: '<html><body><h1>502 Bad Gateway</h1></body></html>' }),
  'a page that says 200': async () => ({ text: '<!doctype html><title>Sign in</title>' }),
  nothing: async () => ({ text: '' }),
  null: async () => ({ text: 'null' }),
  'an object': async () => ({ text: '{}' }),
  'a text': async () => ({ text: '"0x1"' }),
  'an empty batch': async () => ({ text: '[]' }),
  'an error for the whole batch': async () => ({
    status: 429,
    text: '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"limit exceeded"}}',
  }),
  'an error for every call': eachAnswer(({ id }) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32000, message: 'header not found' },
  })),
  'an error without anything in it': eachAnswer(({ id }) => ({ jsonrpc: '2.0', id, error: {} })),
  'one answer too few': changed((answers) => answers.slice(1)),
  'one answer too many': changed((answers) => [...answers.slice(1), answers[1] ?? answers[0], { id: 999, result: 7 }]),
  'answers of other calls': changed((answers) =>
    answers.map((answer) => ({ ...answer, id: Number(answer.id) + 1000 })),
  ),
  'ids as texts': changed((answers) => answers.map((answer) => ({ ...answer, id: String(answer.id) }))),
  'entries that are none': changed((answers) => answers.map((_, at) => [null, 7, 'x', [], true][at % 5])),
  'null for every result': eachAnswer(({ id }) => ({ jsonrpc: '2.0', id, result: null })),
  'numbers for every result': eachAnswer(({ id }) => ({ jsonrpc: '2.0', id, result: 1e300 })),
  'objects for every result': eachAnswer(({ id }) => ({ jsonrpc: '2.0', id, result: { length: 3 } })),
  'no bytes for every result': eachAnswer(({ id }) => ({ jsonrpc: '2.0', id, result: '0x' })),
  'text that is no hex for every result': eachAnswer(({ id }) => ({ jsonrpc: '2.0', id, result: '0xnonsense' })),
  'no result at all': eachAnswer(({ id }) => ({ jsonrpc: '2.0', id })),
  'half an answer': async (_asked, honest) => ({ text: (await honest()).slice(0, -9) }),
  'half an answer, then a cut': async (_asked, honest) => ({ text: await honest(), isCutShort: true }),
}

/** Answers correctly, but for another chain. */
export const OTHER_CHAIN = changedResults((method, result) => (method === 'eth_chainId' ? '0x1' : result))

/** Answers as if nothing had happened in any block. */
export const NO_LOGS = changedResults((method, result) => {
  if (method === 'eth_getLogs') return []
  const hasBloom = typeof result === 'object' && result !== null && 'logsBloom' in result
  return hasBloom ? { ...result, logsBloom: NO_BLOOM } : result
})

interface Call {
  readonly id: unknown
  readonly method: string
}

interface Answer {
  readonly id: unknown
  readonly result?: unknown
}

function callsOf(asked: string): Call[] {
  const calls = JSON.parse(asked) as Call | Call[]
  return Array.isArray(calls) ? calls : [calls]
}

function eachAnswer(answer: (call: Call) => unknown): Lie {
  return async (asked) => {
    const answers = callsOf(asked).map(answer)
    return { text: JSON.stringify(asked.startsWith('[') ? answers : answers[0]) }
  }
}

function changed(change: (answers: Answer[]) => unknown[]): Lie {
  return async (_asked, honest) => {
    const answered = JSON.parse(await honest()) as Answer | Answer[]
    return { text: JSON.stringify(Array.isArray(answered) ? change(answered) : change([answered])[0]) }
  }
}

/** Answers correctly, but for what `change` makes of the result of a call. */
function changedResults(change: (method: string | undefined, result: unknown) => unknown): Lie {
  return async (asked, honest) => {
    const methods = new Map(callsOf(asked).map(({ id, method }) => [id, method]))
    const lie = changed((answers) =>
      answers.map((answer) =>
        'result' in answer ? { ...answer, result: change(methods.get(answer.id), answer.result) } : answer,
      ),
    )
    return lie(asked, honest)
  }
}
