import { readdirSync } from 'node:fs'

// `npm run bench -- <name>` runs bench/<name>.ts, which exports run(): Promise<boolean>. It resolves to false when a
// limit is missed.

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()

const name = process.argv[2] ?? ''
if (!names.includes(name)) {
  console.error(
    `${name === '' ? 'Say which benchmark' : `There is no benchmark ${name}`}. There are: ${names.join(', ')}`,
  )
  process.exit(1)
}
const { run } = (await import(`./${name}.ts`)) as { run: () => Promise<boolean> }
process.exit((await run()) ? 0 : 1)
