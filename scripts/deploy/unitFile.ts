import { readFileSync } from 'node:fs'

/** A unit of systemd: the values of each name, in the order of the file. Names of all sections are different. */
export type UnitFile = ReadonlyMap<string, readonly string[]>

/** Reads a unit. */
export function readUnit(path: string): UnitFile {
  const values = new Map<string, string[]>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return values
}

/** Returns the assignments `NAME=value` of a file of settings, as systemd and podman read it. */
export function readEnvironment(text: string): ReadonlyMap<string, string> {
  const pairs = text.split('\n').map((line) => /^([A-Z_]+)=(.*)$/.exec(line.trim()))
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1]!, pair[2]!]])))
}
