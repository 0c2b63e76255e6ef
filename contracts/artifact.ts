import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'

/** A committed result of the compiler (contracts/artifacts, written by `npm run contracts`). */
export type Artifact = {
  contractName: string
  abi: Abi
  bytecode: Hex
  /** Places of library addresses in the bytecode, in bytes, by library name. */
  linkReferences: Record<string, { start: number; length: number }[]>
}

const loaded = new Map<string, Artifact>()

/** Returns a contract's artifact. Each file is read once. */
export function loadArtifact(contractName: string): Artifact {
  const known = loaded.get(contractName)
  if (known !== undefined) return known
  const file = join(import.meta.dirname, 'artifacts', `${contractName}.json`)
  const artifact = JSON.parse(readFileSync(file, 'utf8')) as Artifact
  loaded.set(contractName, artifact)
  return artifact
}

/** Returns a contract's bytecode with the addresses of its libraries. */
export function linkBytecode(artifact: Artifact, addressOf: (libraryName: string) => Hex): Hex {
  let bytecode = artifact.bytecode as string
  for (const [libraryName, places] of Object.entries(artifact.linkReferences)) {
    const address = addressOf(libraryName).slice(2).toLowerCase()
    for (const { start, length } of places) {
      const from = 2 + start * 2
      bytecode = bytecode.slice(0, from) + address + bytecode.slice(from + length * 2)
    }
  }
  return bytecode as Hex
}
