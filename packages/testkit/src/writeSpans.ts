import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { recordSpans } from './recordSpans.ts'

// Loaded before a service (see `writingSpans`): writes each span that has ended as a line of JSON to the file that is
// named in the environment.

const { SPANS_FILE: file } = process.env
if (file !== undefined) recordSpans((span) => appendFileSync(file, `${JSON.stringify(span)}\n`))
