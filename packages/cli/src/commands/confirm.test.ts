import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PromptInput } from '../keys/readPassword.ts'
import type { CommandContext } from './command.ts'
import { confirm } from './confirm.ts'

/** A terminal on which somebody has typed a line already. */
function terminal(typed: string): PromptInput {
  let isRaw = false
  return {
    isTTY: true,
    setRawMode: (raw) => (isRaw = raw),
    on: (_event, listener) => queueMicrotask(() => listener(Buffer.from(typed))),
    off: () => undefined,
    resume: () => assert.ok(isRaw),
    pause: () => assert.ok(!isRaw),
  }
}

function contextOf(of: { input?: PromptInput; isYes?: boolean; isLocal?: boolean }) {
  const said: string[] = []
  const nobody: PromptInput = {
    on: () => undefined,
    off: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  }
  const streams = { input: of.input ?? nobody, output: { write: (text: string) => void said.push(text) } }
  const context = {
    args: { operands: [], text: () => undefined, flag: (name: string) => name === 'yes' && of.isYes === true },
    output: { noteLines: (lines: readonly string[]) => void said.push(...lines) },
    environment: { target: { chain: 'base', devnet: of.isLocal === true ? {} : undefined }, passwords: { streams } },
  }
  return { said, context: context as never as CommandContext }
}

describe('the question before something is sent', () => {
  const preview = (): string[] => ['Fee  0.72 USDC']

  it('shows the preview and takes y or yes for a yes', async () => {
    for (const typed of ['y\r', 'Y\n', 'yes\r', 'n\u007fy\r']) {
      const { context, said } = contextOf({ input: terminal(typed) })
      await confirm(context, 'Close position 3', preview)
      assert.deepEqual(said.slice(0, 2), ['Fee  0.72 USDC', 'Close position 3 on base. Send it? [y/N] '])
    }
  })

  it('takes everything else for a no', async () => {
    for (const typed of ['\r', 'n\r', 'no\r', 'yep\r', '\u0003', '\u0004']) {
      const { context } = contextOf({ input: terminal(typed) })
      await assert.rejects(confirm(context, 'Close position 3', preview), {
        exitCode: 130,
        message: /Nothing was sent/,
      })
    }
  })

  it('refuses where there is nobody to ask, before anything is asked of the service', async () => {
    const { context, said } = contextOf({})
    const unasked = (): never => assert.fail('nothing is to be previewed')
    await assert.rejects(confirm(context, 'Close position 3', unasked), { exitCode: 2, message: /base.*add --yes/ })
    assert.deepEqual(said, [])
  })

  it('refuses a wrong --timeout before anything is sent', async () => {
    const { context } = contextOf({ isYes: true })
    const misspelt = { ...context, args: { ...context.args, text: () => 'soon' } }
    await assert.rejects(confirm(misspelt, 'Close position 3'), { exitCode: 2, message: /--timeout is "soon"/ })
  })

  it('asks nothing with --yes, and nothing beside a local chain', async () => {
    for (const given of [{ isYes: true }, { isLocal: true }]) {
      const { context, said } = contextOf(given)
      await confirm(context, 'Close position 3', preview)
      assert.deepEqual(said, [])
    }
  })

  it('shows what is typed, and nothing that moves the cursor', async () => {
    const { context, said } = contextOf({ input: terminal('n\u007f\u007f\u001by\r') })
    await assert.rejects(confirm(context, 'Close position 3'))
    assert.deepEqual(said.slice(1), ['n', '\b \b', '', ' ', 'y', '\n'])
  })
})
