// Prints the help of `npm start`, with any installed node and without packages: plain JavaScript. Once the packages are
// there, the program itself lists every setting. Before that, those that a first start may need are listed here.
const SHORT = `npm start runs a local chain and the service on this machine. Settings are environment variables:

  PORT           port of the service, written into devnet.json (default: 8080)
  DEVNET_PORT    port of JSON-RPC and of the price feed (default: 8545)
  BEZEL_DATA     data folder; its contents are wiped at each start of the local chain (default: var)
  DEVNET_CHAINS  chains to run, separated by commas (default: arbitrum,base,polygon,megaeth,arbitrum-sepolia)

The first start installs what it needs. From then on this lists every setting; docs/local-chain.md and
docs/operations.md explain them.`

try {
  await import('./start.ts')
} catch {
  // The packages are missing, or this node does not run TypeScript.
  console.log(SHORT)
}
