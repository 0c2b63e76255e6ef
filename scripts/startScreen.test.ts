import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS } from '@bezel/protocol'
import type { LocalDeployment } from './startEverything.ts'
import { startScreen } from './startScreen.ts'

const SERVICE = 'http://127.0.0.1:8080'

const chains = Object.fromEntries(
  Object.entries(CHAINS).map(([slug, { chainId }]) => [slug, { chainId, rpcUrl: `http://127.0.0.1:8545/${slug}` }]),
)

const accounts = ['trader-1', 'trader-2', 'agent-1', 'relayer', 'deployer'].map((name, at) => ({
  name,
  address: `0x${String(at).repeat(40)}`,
  privateKey: `0x${String(at).repeat(64)}`,
}))

function linesOf(changes: Partial<LocalDeployment> = {}): string[] {
  const close = (): Promise<void> => Promise.resolve()
  return startScreen({
    url: SERVICE,
    dataFolder: `${process.cwd()}/var`,
    sandbox: { chains, accounts },
    close,
    ...changes,
  }).split('\n')
}

describe('the start screen', () => {
  it('ends with the line that programs wait for, which is there once', () => {
    assert.equal(linesOf().at(-1), `READY ${SERVICE}`)
    assert.equal(linesOf().filter((line) => line.startsWith('READY')).length, 1)
  })

  it('names every chain with its id and its address, in columns', () => {
    const text = linesOf()
    for (const [slug, { chainId, rpcUrl }] of Object.entries(chains)) {
      assert.ok(text.includes(`${slug.padEnd(16)}  ${String(chainId).padEnd(6)}  ${rpcUrl}`), slug)
    }
    const [only] = Object.entries(chains)
    assert.ok(
      linesOf({ sandbox: { chains: Object.fromEntries([only!]), accounts } }).includes('Chain     Id     RPC address'),
    )
  })

  it('shows the keys of trader-1 and agent-1 alone, and says what they are before', () => {
    const text = linesOf().join('\n')
    const [trader, , agent] = accounts
    for (const { name, address, privateKey } of [trader!, agent!]) {
      assert.match(text, new RegExp(`^${name} +${address}\n +key +${privateKey}$`, 'm'))
    }
    assert.equal(text.match(/0x\w{64}/g)?.length, 2)
    assert.ok(text.indexOf('Everybody knows them: never use them') < text.indexOf(trader!.privateKey))
  })

  it('says where to read and what to type next, also for another data folder', () => {
    assert.ok(linesOf().includes(`Console        ${SERVICE}`))
    assert.ok(linesOf().includes(`Documentation  ${SERVICE}/docs`))
    assert.ok(linesOf().includes('All accounts   var/devnet.json'))
    assert.ok(linesOf().includes('  node examples/run.mjs firstTrade'))
    const elsewhere = linesOf({ dataFolder: '/srv/my data' })
    assert.ok(elsewhere.includes('  BEZEL_DATA="/srv/my data" node examples/run.mjs firstTrade'))
    assert.ok(elsewhere.includes('All accounts   /srv/my data/devnet.json'))
  })

  it('fits 80 columns, in plain text', () => {
    for (const line of linesOf()) {
      assert.ok(line.length <= 80, line)
      assert.match(line, /^[\x20-\x7e]*$/)
    }
  })
})
