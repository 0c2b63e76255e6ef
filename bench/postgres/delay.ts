import process from 'node:process'
import { startProxy } from '@bezel/testkit/startProxy.ts'

// A proxy in a process of its own, in front of the port of the first argument, with the delay of the second in ms.

const [port = '', delayMs = ''] = process.argv.slice(2)
const proxy = await startProxy(Number(port))
proxy.delayMs = Number(delayMs)
process.send!({ port: proxy.port })
