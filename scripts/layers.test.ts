import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import { circlesOf, folderGraph, graphOf, importsIn, listModules, readImports, type ImportEdge } from './sourceGraph.ts'

const SERVER = 'packages/server/src'

/**
 * The folders of the server, bottom first: each may import those before it and none after it. The files beside the
 * folders may import all of them.
 */
const FLOORS = [
  'ground',
  'settings',
  'json',
  'signatures',
  'trading',
  'store',
  'journal',
  'chain',
  'market',
  'agents',
  'accounts',
  'access',
  'notices',
  'follower',
  'orders',
  'stream',
  'facade',
  'http',
  'metrics',
  'docs',
  'console',
  'check',
  '.',
] as const

const CONSOLE = 'packages/console/src'

/**
 * The floors of the console, bottom first. Views lie beside each other, and what two of them show is below both. The
 * router is a floor of its own, because views lead to each other by address.
 */
const CONSOLE_FLOORS: readonly (readonly string[])[] = [
  ['ground'],
  ['ui'],
  ['router'],
  ['data'],
  ['session'],
  ['ticket', 'portfolio'],
  ['markets', 'history', 'notices', 'agents', 'system', 'guide'],
  ['app'],
  ['.'],
]

const MAX_DEPTH = 6

const PACKAGES = ['protocol', 'server', 'sdk', 'cli', 'devnet'].map((name) => `packages/${name}/src`)

describe('the floors of the server', () => {
  const edges = readImports(listModules(SERVER))

  it('name every folder, and nothing that is not there', () => {
    const folders = new Set(listModules(SERVER).map(floorOf))
    assert.deepEqual([...folders].toSorted(), FLOORS.toSorted())
  })

  it('import only what lies below them', () => {
    assert.deepEqual(upwardImports(edges), [])
  })

  it('would show an import that points upwards', () => {
    const planted = importsIn(`${SERVER}/trading/scope.ts`, "import type { Sql } from '../store/sql.ts'\n")
    assert.deepEqual(upwardImports(planted), [`${SERVER}/trading/scope.ts -> ${SERVER}/store/sql.ts`])
  })
})

describe('the floors of the console', () => {
  const modules = listModules(CONSOLE)
  const edges = readImports(modules)

  it('name every folder, and nothing that is not there', () => {
    assert.deepEqual([...new Set(modules.map(consoleFloorOf))].toSorted(), CONSOLE_FLOORS.flat().toSorted())
  })

  it('import only what lies below them, or their own folder', () => {
    assert.deepEqual(consoleTrespasses(edges), [])
    assert.deepEqual(circlesOf(graphOf(edges.filter(({ to }) => /\.tsx?$/.test(to)))), [])
  })

  it('would show an import that points upwards, or to a view beside it', () => {
    const up = importsIn(`${CONSOLE}/data/client.ts`, "import { session } from '../session/session.ts'\n")
    const beside = importsIn(`${CONSOLE}/agents/AgentsView.tsx`, "import { rows } from '../system/rows.ts'\n")
    assert.equal(consoleTrespasses([...up, ...beside]).length, 2)
  })
})

describe('folders and files', () => {
  for (const root of PACKAGES) {
    const edges = readImports(listModules(root))

    it(`of ${root} import each other in no circle`, () => {
      assert.deepEqual(folderCircles(edges, root), [])
      assert.deepEqual(circlesOf(graphOf(edges)), [])
    })
  }

  it('would show a circle of folders, also one of a folder and its own room', () => {
    const there = importsIn(`${SERVER}/http/createApp.ts`, "import { routes } from './routes/registerRoutes.ts'\n")
    const back = importsIn(`${SERVER}/http/routes/orders/getOrder.ts`, "import { rawBody } from '../../rawBody.ts'\n")
    assert.deepEqual(folderCircles(there, SERVER), [])
    assert.deepEqual(folderCircles([...there, ...back], SERVER), [['http', 'http/routes']])
  })

  it('would show a circle of files, also one that types alone make', () => {
    const there = importsIn('a.ts', "import { b } from './b.ts'\n")
    const back = importsIn('b.ts', "type A = import('./a.ts').A\n")
    assert.deepEqual(circlesOf(graphOf([...there, ...back])), [['a.ts', 'b.ts']])
  })
})

function upwardImports(edges: readonly ImportEdge[]): string[] {
  const height = (file: string): number => FLOORS.findIndex((floor) => floor === floorOf(file))
  return edges.filter(({ from, to }) => height(to) > height(from)).map(({ from, to }) => `${from} -> ${to}`)
}

function floorOf(file: string): string {
  const path = posix.relative(SERVER, file)
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '.'
}

function consoleTrespasses(edges: readonly ImportEdge[]): string[] {
  const height = (floor: string): number => CONSOLE_FLOORS.findIndex((floors) => floors.includes(floor))
  const isAllowed = (from: string, to: string): boolean => from === to || height(to) < height(from)
  const wrong = edges.filter(({ from, to }) => !isAllowed(consoleFloorOf(from), consoleFloorOf(to)))
  return wrong.map(({ from, to }) => `${from} -> ${to}`)
}

function consoleFloorOf(file: string): string {
  const path = posix.relative(CONSOLE, file)
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '.'
}

function folderCircles(edges: readonly ImportEdge[], root: string): string[][] {
  const depths = Array.from({ length: MAX_DEPTH }, (_, index) => index + 1)
  const circles = depths.flatMap((depth) => circlesOf(folderGraph(edges, root, depth)))
  return [...new Map(circles.map((circle) => [circle.join(' '), circle])).values()]
}
