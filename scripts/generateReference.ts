import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { format } from 'prettier'
import { RECORDING_FILE } from '../packages/server/src/docs/recorded/recording.ts'

const ROOT = new URL('../', import.meta.url)

/** With `--record` the examples are recorded anew first, from a run on a local chain. */
if (process.argv.includes('--record')) {
  const { recordExamples } = await import('./recording/recordExamples.ts')
  const text = JSON.stringify(await recordExamples())
  writeFileSync(RECORDING_FILE, await format(text, { parser: 'json', printWidth: 120 }))
  console.log('recorded the examples')
}

// Imported only now, because the reference is made from the recording.
const { generatedReference } = await import('./generatedReference.ts')
for (const [path, text] of Object.entries(await generatedReference())) {
  const file = new URL(path, ROOT)
  mkdirSync(dirname(file.pathname), { recursive: true })
  writeFileSync(file, text)
  console.log(path)
}
