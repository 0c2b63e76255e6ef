import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, it } from 'node:test'

/** Stories of `npm run test:live` that belong to every run. */
const STORIES = ['e2e/firstTrade.test.ts', 'e2e/facade/wholePosition.test.ts']

describe('behind two providers with limits, and live blocks', () => {
  for (const story of STORIES) {
    it(`passes: ${story}`, async () => {
      const { code, printed } = await runStory(story)
      assert.equal(code, 0, printed)
    })
  }
})

/** Runs a story in a process of its own, as the test runner does. */
function runStory(story: string): Promise<{ readonly code: number | null; readonly printed: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, ['--test', '--test-force-exit', story], {
    env: { ...env, TEST_PROVIDERS: 'live' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  }
  return new Promise((ended, failed) => child.once('error', failed).once('close', (code) => ended({ code, printed })))
}
