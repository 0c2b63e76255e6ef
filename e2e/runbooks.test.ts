import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { zeroAddress } from 'viem'
import { until } from '@bezel/testkit/until.ts'
import { installPostgres } from '../scripts/installPostgres.ts'
import { OTHER_CHAIN } from './outages/lies.ts'
import { HEADINGS, type Heading } from './runbooks/runbookPage.ts'
import { CHAIN, NODES, startRunbookWorld, type NodeName, type RunbookWorld } from './runbooks/runbookWorld.ts'

const ROOT = new URL('../', import.meta.url)
/** Time for commands that look, each of which may wait for a node. */
const LOOKS_MS = 600_000
const INDEX = 'docs/runbooks/README.md'

describe('the runbooks', () => {
  let world: RunbookWorld
  /** Number of a block that is newer than the back-up. */
  let backedUp = 0

  before(async () => {
    installPostgres()
    world = await startRunbookWorld()
  })
  after(() => world?.stop())

  const headNumber = async (): Promise<number> => Number(await world.chain.client.getBlockNumber({ cacheTime: 0 }))
  const get = async (node: NodeName, path: string): Promise<string> =>
    (await fetch(world.urlOf(node) + path).catch(() => undefined))?.text() ?? ''
  const untilReady = async (): Promise<void> => {
    for (const node of NODES) {
      await until(`${node} is ready`, async (saw) => {
        const answer = await fetch(`${world.urlOf(node)}/ready`).catch(() => undefined)
        saw(await answer?.text())
        return answer?.ok
      })
    }
  }
  const untilSaid = (node: NodeName, path: string, what: RegExp): Promise<unknown> =>
    until(`${node} says ${what}`, async (saw) => {
      const said = await get(node, path)
      saw(said.slice(0, 2_000))
      return what.test(said)
    })

  /**
   * Returns a function that runs the commands below a heading of a page, and asserts what they print. Those that only
   * look are run until they show it, as by somebody who waits for it.
   */
  const pageOf = (name: string) => {
    const page = `docs/runbooks/${name}.md`
    return async (heading: Heading, ...printed: readonly RegExp[]): Promise<void> => {
      const run = async (): Promise<void> => {
        const output = await world.run(page, heading)
        for (const pattern of printed) assert.match(output, pattern, `${page}, ${heading}`)
      }
      if (heading === 'To do') return run()
      const look = async (saw: (value: unknown) => void): Promise<boolean> =>
        run().then(
          () => true,
          (error: unknown) => (saw(error), false),
        )
      await until(`${page}, ${heading}`, look, LOOKS_MS)
    }
  }

  it('are each run by a test, and lead to each other', () => {
    const tests = globSync('e2e/**/*.test.ts', { cwd: ROOT.pathname }).map((file) =>
      readFileSync(new URL(file, ROOT), 'utf8'),
    )
    const index = readFileSync(new URL(INDEX, ROOT), 'utf8')
    const pages = globSync('docs/runbooks/*.md', { cwd: ROOT.pathname }).filter((page) => page !== INDEX)
    assert.ok(pages.length >= 8)
    for (const page of pages) {
      const name = page.slice('docs/runbooks/'.length, -'.md'.length)
      assert.ok(
        tests.some((text) => text.includes(`'${name}'`) || text.includes(page)),
        page,
      )
      assert.ok(index.includes(`(${name}.md)`), `${INDEX} does not lead to ${name}`)
      const text = readFileSync(new URL(page, ROOT), 'utf8')
      for (const heading of HEADINGS) assert.ok(text.includes(`\n## ${heading}\n`), `${page} has no "${heading}"`)
    }
  })

  it('are named by alerts, each of which names one that there is', () => {
    const alerts = readFileSync(new URL('deploy/alerts.yml', ROOT), 'utf8')
    const named = [...alerts.matchAll(/runbook: (\S+)/g)].map(([, page]) => page!)
    assert.ok(named.length >= 8, String(named.length))
    for (const page of named) readFileSync(new URL(page, ROOT))
    const wakes = alerts.split('- alert: ').filter((rule) => rule.includes('severity: page'))
    for (const rule of wakes) assert.match(rule, /runbook: /, rule)
  })

  it('say how a version is replaced, and how to go back', async () => {
    const run = pageOf('upgrade')
    await run('Noticed by', /^bezel-server .* schema \d+$/m, /^bezel_node_info/m)
    await run('To do', /bezel-0\.2\.0\.tar\.gz: OK/)
    await run('Over when', /bezel-0\.1\.0$/m)
    backedUp = await headNumber()
  })

  it('say what to do with a provider that lies', async () => {
    const run = pageOf('provider-lies')
    world.provider.fault = { kind: 'lies', lie: OTHER_CHAIN }
    await untilSaid('a', '/metrics', /^bezel_provider_up.*wrong_chain.* 0$/m)
    await run('Noticed by', /wrong_chain/, /Provider 1 /)
    await run('To do')
    await run('Over when', /^bezel_provider_up.*state="ok".* 1$/m)
    assert.doesNotMatch(await get('a', '/metrics'), /provider="2/)
    world.provider.fault = { kind: 'none' }
  })

  it('say what to do while the contracts are paused', async () => {
    const run = pageOf('chain-paused')
    const deployer = world.chain.account('deployer')
    await world.chain.send(deployer, 'updateTradingActivated', [2])
    const notices = `/api/notifications/${zeroAddress}`
    await untilSaid('a', notices, /chain_paused/)
    await run('Noticed by', /chain_paused/, /bezel_requests_stalled/)
    await run('To do', /writes/)
    await world.chain.send(deployer, 'updateTradingActivated', [0])
    await until('the notice is gone', async () => !(await get('a', notices)).includes('chain_paused'))
    await run('Over when')
  })

  it('say what to do with a relayer that is empty, or whose key is lost', async () => {
    const run = pageOf('relayer')
    const relayer = world.devnet.file.accounts.find(({ name }) => name === 'relayer')!
    await world.chain.control('hardhat_setBalance', relayer.address, '0x1')
    await untilSaid('a', '/metrics', /^bezel_relayer_low.* 1$/m)
    await run('Noticed by', /^bezel_relayer_low.* 1$/m, /relayerWarning/)
    await run('To do', new RegExp(relayer.address, 'i'))
    const { relayer: next } = JSON.parse(await get('a', `/v1/${CHAIN}`)) as { readonly relayer: string }
    assert.notEqual(next, relayer.address)
    await world.chain.control('bezel_faucet', next)
    await untilSaid('a', '/metrics', /^bezel_relayer_low.* 0$/m)
    await run('Over when')
  })

  it('say what to do with a disk that is full', async (test) => {
    const run = pageOf('disk-full')
    if (world.disk === undefined) test.diagnostic('THE DISK IS NOT FULL: none can be mounted here')
    world.disk?.fill()
    if (world.disk !== undefined) {
      await until('the store takes no more', async () => !(await fetch(`${world.urlOf('a')}/ready`)).ok)
    }
    await run('Noticed by', /^bezel_chain_head_block/m)
    world.disk?.free()
    await untilReady()
    await run('To do', /\(5 rows\)/)
    await run('Over when')
  })

  it('say what to do with a clock that is wrong', async () => {
    const run = pageOf('clock-wrong')
    world.stepClock()
    await untilSaid('b', '/ready', /"reason":"clock"/)
    await run('Noticed by', /"reason":"clock"/)
    await run('To do')
    await run('Over when')
  })

  it('say how a node is taken out', async () => {
    const run = pageOf('node-out')
    await run('Noticed by', /^bezel_lease_held/m)
    await run('To do')
    await run('Over when', /keeper/)
    assert.equal(await get('b', '/health'), '')
  })

  it('say what to do after a reorganisation that is too deep', async () => {
    const run = pageOf('reorganisation-too-deep')
    // Not every block is stored, so the oldest one that can be undone may lie below the last final one. The back-up of
    // the upgrade is older than it.
    const oldest = await until('the blocks of the back-up are forgotten', async (saw) => {
      const number = Number(await world.server.psql('bezel', 'select min(number) from blocks'))
      saw(number)
      return number > backedUp ? number : undefined
    })
    await world.chain.control('bezel_reorgFrom', oldest, 'drop')
    await untilSaid('a', '/ready', /reorg_too_deep/)
    await run('Noticed by', /reorg_too_deep/)
    await run('To do')
    await run('Over when', /^bezel_chain_lag_blocks/m)
    await untilReady()
  })
})
