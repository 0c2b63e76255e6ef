import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { generatedReference } from './generatedReference.ts'

const ROOT = new URL('../', import.meta.url)

it('the committed reference is what the code says: npm run reference writes it', async () => {
  for (const [path, text] of Object.entries(await generatedReference())) {
    // assert.equal would print both texts.
    assert.ok(readFileSync(new URL(path, ROOT), 'utf8') === text, `${path} has drifted: npm run reference`)
  }
})
