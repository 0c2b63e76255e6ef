import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** One import of a module by another, both as paths from the root of the repository. */
export interface ImportEdge {
  readonly from: string
  readonly to: string
}

/** A graph as lists of successors. Every node has an entry. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Matches the specifier of static imports, re-exports, dynamic imports and import types; type imports count like any
 * other.
 */
const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g

/** Lists the TypeScript modules of a folder that run in production: no tests, and nothing of the `testing` folders. */
export function listModules(folder: string): string[] {
  return globSync(`${folder}/**/*.{ts,tsx}`).filter(isProduction).toSorted()
}

/** Reads the imports between the given modules. */
export function readImports(modules: readonly string[]): ImportEdge[] {
  return modules.flatMap((from) => importsIn(from, readFileSync(from, 'utf8')))
}

/** Returns the imports that the text of a module makes by relative path. */
export function importsIn(from: string, text: string): ImportEdge[] {
  const specifiers = [...text.matchAll(SPECIFIER)].map(([, specifier]) => specifier!)
  return specifiers.map((specifier) => ({ from, to: posix.join(posix.dirname(from), specifier) }))
}

/**
 * Returns the graph of folders cut off at a depth below `root`: a deeper folder counts as its ancestor of that depth.
 */
export function folderGraph(edges: readonly ImportEdge[], root: string, depth: number): Graph {
  const folderOf = (file: string): string => {
    const parts = posix.relative(root, posix.dirname(file)).split('/')
    return parts.slice(0, depth).join('/') || '.'
  }
  return graphOf(edges.map(({ from, to }) => ({ from: folderOf(from), to: folderOf(to) })))
}

/** Returns the graph of the edges, without those from a node to itself. */
export function graphOf(edges: readonly ImportEdge[]): Graph {
  const graph = new Map<string, Set<string>>()
  for (const node of edges.flatMap(({ from, to }) => [from, to])) graph.set(node, new Set())
  for (const { from, to } of edges) if (from !== to) graph.get(from)!.add(to)
  return graph
}

/** Returns the circles: groups of two or more nodes that all reach each other. */
export function circlesOf(graph: Graph): string[][] {
  const reach = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]))
  const circles = new Map<string, string[]>()
  for (const node of graph.keys()) {
    const circle = [...reach.get(node)!].filter((other) => reach.get(other)!.has(node)).toSorted()
    if (circle.length > 1) circles.set(circle.join(' '), circle)
  }
  return [...circles.values()]
}

function reachableFrom(graph: Graph, start: string): Set<string> {
  const reached = new Set<string>()
  const waiting = [start]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const next of graph.get(node) ?? []) {
      if (!reached.has(next)) waiting.push(next)
      reached.add(next)
    }
  }
  return reached
}

function isProduction(file: string): boolean {
  return !/\.test\.ts$|\/testing\/|node_modules/.test(file)
}
