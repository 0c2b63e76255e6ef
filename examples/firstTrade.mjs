// A first trade: lets an agent trade for a trader, opens a position in BTC with it, and closes it again.
// Needs: `npm start` in another terminal. Run: node examples/run.mjs firstTrade. It ends by itself.
// Not for real money: the keys are the local chain's own, and everybody knows them.
import { createBezelClient, privateKeySender } from '@bezel/sdk'
import { account, baseUrl, chain, diamond, rpcUrl } from './devnet.mjs'

const [trader, agent] = [account('trader-1'), account('agent-1')]
const sender = privateKeySender({ account: agent, rpcUrl })
const client = createBezelClient({ baseUrl, chain, diamond, agent, sender, trader: trader.address })
await client.agents.authorize({ trader, name: 'first bot' })
await client.agents.delegate({ sender: privateKeySender({ account: trader, rpcUrl }) })

const request = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' }
const { fill: opened } = await (await client.orders.create(request)).waitForFill()
console.log(`opened ${opened.size} BTC at ${opened.price}`)
const { fill: closed } = await (await client.positions.close(opened.positionId)).waitForFill()
console.log(`closed ${closed.size} BTC at ${closed.price}`)
