#!/usr/bin/env node
import { launch } from '@bezel/protocol/launch'

await launch({ name: 'bezel', self: import.meta.url, main: new URL('./src/main.ts', import.meta.url) })
