import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { until } from '@bezel/testkit/until.ts'
import { parse } from 'yaml'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { installRedis } from '../../scripts/installRedis.ts'
import { startFaultyProxy, type FaultyProxy } from '../outages/faultyProxy.ts'
import { CAUSES, readValues, type AlertWorld, type Values } from './alertCauses.ts'
import { documentedLabels, readScrape, seriesOf, wrongNames, type Labels } from './scrape.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const DATABASE = 'dashboard'
const CHAIN = 'arbitrum-sepolia'
/** Depth from which a block is final, so that what needs final blocks is soon seen. */
const FINAL_BLOCKS = 8

/** An expression of the files for operators, with the labels that the text beside it shows. */
interface Expression {
  readonly title: string
  readonly expr: string
  readonly text: string
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly expr: string
      readonly annotations: { readonly summary: string; readonly action: string }
    }[]
  }[]
}

describe('the dashboard and the alerts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-dashboard-'))
  let server: RunningPostgres
  let redis: RunningRedis
  let devnet: RunningDevnet
  /** The provider of the chain. */
  let provider: FaultyProxy
  let nodes: readonly RunningService[] = []
  let settings: Record<string, string>
  /** The series of both nodes with their labels. */
  let scraped: ReadonlyMap<string, Labels>

  before(async () => {
    installPostgres()
    installRedis()
    ;[server, redis, devnet] = await Promise.all([startPostgres(), startRedis(), startDevnet()])
    const { rpcUrl, wsUrl: _none, ...described } = devnet.file.chains[CHAIN]!
    provider = await startFaultyProxy(rpcUrl.replace(/\/$/, ''))
    const chain = { ...described, rpcUrls: [provider.url], finality: { blocks: FINAL_BLOCKS } }
    const chainsFile = join(folder, 'chains.json')
    writeFileSync(chainsFile, JSON.stringify({ chains: { [CHAIN]: chain }, feedUrl: devnet.file.feedUrl }))
    settings = {
      LOG_LEVEL: 'silent',
      DATABASE_URL: await server.createDatabase(DATABASE),
      REDIS_URL: redis.urlOf(),
      BEZEL_IP_LIMIT: '1000000',
      BEZEL_UNANSWERED_MS: '10000',
      BEZEL_CHAINS_FILE: chainsFile,
      BEZEL_HEAD_POLL_MS: '100',
      BEZEL_MARKETS_REFRESH_MS: '250',
    }
    nodes = await Promise.all(
      ['a', 'b'].map((name) => startService(devnet, { ...settings, BEZEL_DATA: join(folder, name) })),
    )
    scraped = readScrape(await scrapes())
  })
  after(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await provider?.close()
    await devnet?.stop()
    await redis?.remove()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const scrapes = (): Promise<string[]> =>
    Promise.all(nodes.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))

  /** Returns the sum of the series of a name and labels over both nodes. */
  async function sum(name: string, labels: string): Promise<number> {
    const line = `${name}{${labels}} `
    const lines = (await scrapes()).flatMap((text) => text.split('\n')).filter((text) => text.startsWith(line))
    return lines.reduce((total, text) => total + Number(text.slice(line.length)), 0)
  }

  const rulesOf = () => (parse(read('deploy/alerts.yml')) as Rules).groups.flatMap(({ rules }) => rules)

  function expressions(): Expression[] {
    const { panels } = JSON.parse(read('deploy/dashboard.json')) as Dashboard
    return [
      ...panels.flatMap(({ title, targets = [] }) =>
        targets.map(({ expr, legendFormat }) => ({ title, expr, text: legendFormat })),
      ),
      ...rulesOf().map(({ alert, expr, annotations }) => ({ title: alert, expr, text: annotations.summary })),
    ]
  }

  it('name only series and labels that are there', () => {
    const documented = documentedLabels(read('docs/operations.md'))
    const known = new Map([...scraped].map(([name, labels]) => [name, labels ?? documented.get(name) ?? null]))
    const all = expressions()
    assert.ok(all.length > 60, String(all.length))
    assert.deepEqual(
      all.flatMap((one) => wrongNames(one, known).map((wrong) => `${one.title}: ${wrong}`)),
      [],
    )
  })

  it('see a series that begins with its first event, which has not grown for Prometheus', () => {
    for (const { alert, expr } of rulesOf()) {
      for (const [, name] of expr.matchAll(/increase\((\w+)\[/g)) {
        const isThere = (scraped.get(name!) ?? null) !== null
        assert.ok(isThere || expr.includes(`${name} unless ${name} offset`), `${alert}: ${name}`)
      }
    }
  })

  it('would be refused with a name or a label that is not there', () => {
    const known = new Map<string, Labels>([['bezel_orders', new Set(['status'])]])
    const wrong = (expr: string, text = ''): string[] => wrongNames({ expr, text }, known)
    assert.deepEqual(wrong('sum by (status) (bezel_orders{status="open"})', '{{status}}'), [])
    assert.deepEqual(wrong('rate(bezel_order[5m])'), ['no series bezel_order'])
    assert.deepEqual(wrong('bezel_orders{chain="base"}'), ['bezel_orders has no label chain'])
    assert.deepEqual(wrong('sum by (chain) (bezel_orders)'), ['bezel_orders has no label chain'])
    assert.deepEqual(wrong('sum by (status) (bezel_orders)', '{{instance}}'), ['the text has no label instance'])
    assert.deepEqual(wrong('bezel_orders > 0', '{{ $labels.chain }}'), ['the text has no label chain'])
    const replaced = 'label_replace(group by (status) (bezel_orders), "role", "keeper", "", "")'
    assert.deepEqual(wrong(`${replaced} or ${replaced}`, '{{ $labels.role }}'), [])
    assert.deepEqual(wrong(`${replaced} or bezel_orders`, '{{ $labels.role }}'), ['the text has no label role'])
  })

  it('are about series that the guide explains, which explains no others', () => {
    const documented = [...documentedLabels(read('docs/operations.md')).keys()]
    const own = [...seriesOf(scraped)].filter((name) => name.startsWith('bezel_'))
    assert.deepEqual(documented.toSorted(), own.toSorted())
  })

  it('count what all nodes know once, and each lead once', async () => {
    // A node that got no turn of the processor for seconds has lost its leads, which the other one takes.
    await until('one tells the orders', async (saw) => {
      const told = (await scrapes()).filter((text) => text.includes('\nbezel_orders{'))
      saw(told.length)
      return told.length === 1
    })
    for (const [chain, role] of [
      ['arbitrum-sepolia', 'follower'],
      ['arbitrum-sepolia', 'keeper'],
      ['arbitrum-sepolia', 'relayer'],
      ['none', 'keeper'],
    ] as const) {
      await until(`one leads as ${role} of ${chain}`, async (saw) => {
        const held = await sum('bezel_lease_held', `chain="${chain}",role="${role}"`)
        saw(held)
        return held === 1
      })
    }
  })

  describe('that something is wrong is seen by the rules:', () => {
    const world = (): AlertWorld => ({
      devnet,
      provider,
      server,
      redis,
      database: DATABASE,
      chain: createChainClient(devnet.file),
      nodes: () => nodes,
      scrapes,
    })
    const values = async (): Promise<Values> => readValues(await scrapes())

    it('each rule has a cause, and tells of the series that it moves', () => {
      const moved = CAUSES.flatMap(({ alerts }) => Object.entries(alerts).map(([name, { series }]) => [name, series]))
      const elsewhere = [
        ['BezelNodeDown', 'up'],
        ['BezelRoleGone', 'bezel_lease_held'],
        // Moved by packages/server/src/main.test.ts: the log of these nodes is searched for secrets to their end.
        ['BezelLogLost', 'bezel_log_lines_lost_total'],
      ]
      const series = new Map([...moved, ...elsewhere] as [string, string][])
      const rules = rulesOf()
      assert.deepEqual([...series.keys()].toSorted(), rules.map(({ alert }) => alert).toSorted())
      for (const { alert, expr } of rules) assert.match(expr, new RegExp(`\\b${series.get(alert)}\\b`), alert)
    })

    for (const { name, alerts, provoke, heal } of CAUSES) {
      it(name, async () => {
        const unseen = new Map(Object.entries(alerts))
        const calm = await until('nothing is wrong yet', async (saw) => {
          const now = await values()
          const seen = Object.entries(alerts).filter(([, { isSeen }]) => isSeen(now, now))
          saw(seen.map(([alert]) => alert))
          return seen.length === 0 ? now : undefined
        })
        try {
          await provoke(world())
          await until(
            () => `the series of ${[...unseen.keys()].join(', ')} move`,
            async () => {
              const now = await values()
              for (const [alert, { isSeen }] of unseen) if (isSeen(now, calm)) unseen.delete(alert)
              return unseen.size === 0
            },
          )
        } finally {
          await heal(world())
        }
      })
    }
  })

  it('see another node lead and tell the orders when the keeper ends', async () => {
    const gone = await until('one leads', async () => {
      const texts = await scrapes()
      return nodes[texts.findIndex((text) => text.includes('bezel_lease_held{chain="none",role="keeper"} 1'))]
    })
    await gone.stop()
    nodes = nodes.filter((node) => node !== gone)
    // The scraper makes `up` of this.
    await assert.rejects(fetch(`${gone.url}/metrics`))
    await until('the other node leads', async () => (await sum('bezel_lease_held', 'chain="none",role="keeper"')) === 1)
    await until('it tells the orders', async () => (await scrapes())[0]!.includes('\nbezel_orders{'))
  })

  it('see that a role is gone with the last node that has it', async () => {
    const answering = await startService(devnet, { ...settings, BEZEL_ROLES: 'api', BEZEL_DATA: join(folder, 'c') })
    const leading = nodes
    nodes = [...nodes, answering]
    const rolesOf = async (): Promise<string[]> => {
      const held = readValues(await scrapes()).get('bezel_lease_held') ?? []
      return held.map(({ labels }) => labels).filter((labels) => labels.includes(`chain="${CHAIN}"`))
    }
    assert.equal(new Set(await rolesOf()).size, 3)
    await Promise.all(leading.map((node) => node.stop()))
    nodes = [answering]
    assert.deepEqual(await rolesOf(), [], 'nothing of them is left to be below 1')
    assert.equal(readValues(await scrapes()).get('bezel_chain_ready')?.length, 1, 'the chain is still told of')
  })
})
