#!/usr/bin/env node
import { launch } from '@bezel/protocol/launch'

await launch({ name: 'bezel-server', self: import.meta.url, main: new URL('./src/operatorMain.ts', import.meta.url) })
