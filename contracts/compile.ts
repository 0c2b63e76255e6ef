import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const sourceDir = join(import.meta.dirname, 'src')
export const artifactDir = join(import.meta.dirname, 'artifacts')
const recordFile = join(import.meta.dirname, 'compiled.json')

/** The kept part of a compiled contract: enough to deploy it and to decode its answers. */
export type CompiledContract = {
  contractName: string
  abi: readonly Record<string, unknown>[]
  bytecode: `0x${string}`
  linkReferences: Record<string, { start: number; length: number }[]>
}

/**
 * Origin of the committed artifacts (compiled.json, written with them), so that a test knows without compiling that
 * they still belong to the sources.
 */
export type CompilationRecord = {
  /** SHA-256 of the compiler's version and its whole input: sources and settings. */
  input: string
  /** SHA-256 of each artifact file, by contract name. */
  artifacts: Record<string, string>
}

type SolcContract = {
  abi: Record<string, unknown>[]
  evm: { bytecode: { object: string; linkReferences: Record<string, CompiledContract['linkReferences']> } }
}
type SolcOutput = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, SolcContract>>
}
type Solc = { compile(input: string): string; version(): string }

/** Compiles contracts/src. The bytecode carries no metadata, so it depends on the sources and the compiler only. */
export function compileContracts(): { compiler: string; artifacts: CompiledContract[] } {
  const solc = createRequire(import.meta.url)('solc') as Solc
  const output = JSON.parse(solc.compile(compilerInput())) as SolcOutput
  const failures = (output.errors ?? []).filter((entry) => entry.severity === 'error')
  if (failures.length > 0) throw new Error(failures.map((entry) => entry.formattedMessage).join('\n'))
  const warnings = (output.errors ?? []).map((entry) => entry.formattedMessage)
  if (warnings.length > 0) throw new Error(`the contracts compile with warnings:\n${warnings.join('\n')}`)
  return { compiler: solc.version(), artifacts: deployable(output) }
}

function compilerInput(): string {
  return JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(sourceFiles().map((name) => [name, { content: readSource(name) }])),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'cancun',
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.bytecode.linkReferences'] } },
    },
  })
}

function sourceFiles(): string[] {
  return readdirSync(sourceDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sol'))
    .map((name) => relative(sourceDir, join(sourceDir, name)).replaceAll('\\', '/'))
    .toSorted()
}

function readSource(name: string): string {
  return readFileSync(join(sourceDir, name), 'utf8')
}

function deployable(output: SolcOutput): CompiledContract[] {
  return Object.values(output.contracts)
    .flatMap((contracts) => Object.entries(contracts))
    .filter(([, contract]) => contract.abi.length > 0 && contract.evm.bytecode.object.length > 0)
    .map(([contractName, contract]) => ({
      contractName,
      abi: contract.abi,
      bytecode: `0x${contract.evm.bytecode.object}` as const,
      linkReferences: Object.assign({}, ...Object.values(contract.evm.bytecode.linkReferences)),
    }))
    .toSorted((a, b) => a.contractName.localeCompare(b.contractName))
}

/** Returns the content of the committed file. Writing and comparing both use it, so they cannot differ. */
export function serializeArtifact(artifact: CompiledContract): string {
  return `${JSON.stringify(artifact, null, 2)}\n`
}

/** Returns the record of a compilation of the current sources that gave these artifact files, by contract name. */
export function recordCompilation(artifactTexts: Readonly<Record<string, string>>): CompilationRecord {
  const { version } = createRequire(import.meta.url)('solc/package.json') as { version: string }
  return {
    input: sha256(`solc ${version}\n${compilerInput()}`),
    artifacts: Object.fromEntries(Object.entries(artifactTexts).map(([name, text]) => [name, sha256(text)])),
  }
}

/** Reads the record of the last `npm run contracts`. */
export function readCompilationRecord(): CompilationRecord {
  return JSON.parse(readFileSync(recordFile, 'utf8')) as CompilationRecord
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Writes the artifacts and their record. Each file is replaced as a whole, so that a concurrent reader sees an old or a
 * new one.
 */
function writeArtifacts(artifacts: CompiledContract[]): void {
  mkdirSync(artifactDir, { recursive: true })
  const names = new Set(artifacts.map(({ contractName }) => `${contractName}.json`))
  for (const stale of readdirSync(artifactDir).filter((name) => !names.has(name))) rmSync(join(artifactDir, stale))
  const texts = Object.fromEntries(artifacts.map((artifact) => [artifact.contractName, serializeArtifact(artifact)]))
  for (const [name, text] of Object.entries(texts)) replaceFile(join(artifactDir, `${name}.json`), text)
  replaceFile(recordFile, `${JSON.stringify(recordCompilation(texts), null, 2)}\n`)
}

function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { compiler, artifacts } = compileContracts()
  writeArtifacts(artifacts)
  for (const { contractName, bytecode } of artifacts) {
    console.log(`${contractName.padEnd(28)} ${String((bytecode.length - 2) / 2).padStart(6)} bytes of creation code`)
  }
  console.log(`${artifacts.length} artifacts written with solc ${compiler}`)
}
