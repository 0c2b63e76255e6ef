import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generatedReference } from './generatedReference.ts'

const ROOT = new URL('../', import.meta.url)

for (const [path, text] of Object.entries(await generatedReference())) {
  const file = new URL(path, ROOT)
  mkdirSync(dirname(file.pathname), { recursive: true })
  writeFileSync(file, text)
  console.log(path)
}
