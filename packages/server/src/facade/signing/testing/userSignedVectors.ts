import type { ExchangeAction } from '../envelope.ts'
import type { Signed } from './vectorSigner.ts'

// Test vectors made with independent clients of the exchange, which agree on each of them.

export interface UserSignedVector extends Signed {
  readonly name: string
  readonly action: ExchangeAction
}

export const USER_SIGNED_VECTORS: readonly UserSignedVector[] = [
  {
    name: 'approveAgent-testnet',
    action: {
      type: 'approveAgent',
      signatureChainId: '0x66eee',
      hyperliquidChain: 'Testnet',
      agentAddress: '0x000000000000000000000000000000000000dead',
      agentName: 'bot',
      nonce: 1731628800010,
    },
    digest: '0x646dd94998110b6dc177a4c1a12e45f126df3de451db1896fe7ad8a9b520451b',
    signature: {
      r: '0xd2e7dc962c7936d1b00c3e1037317ef8899cc1825c347308157b618cdcf3232f',
      s: '0x7b910437512a3ca7a58d38a380f103b80530cdcb726582d88a92ee030e934b63',
      v: 27,
    },
  },
  {
    name: 'approveAgent-unnamed',
    action: {
      type: 'approveAgent',
      signatureChainId: '0x66eee',
      hyperliquidChain: 'Testnet',
      agentAddress: '0x000000000000000000000000000000000000dead',
      agentName: '',
      nonce: 1731628800011,
    },
    digest: '0x659e305bd3a130cbfa0ca9ec87f0c2ab4b94a7f9e782e4788fcccdeb72f408e8',
    signature: {
      r: '0x9d8439f7ebf3778db02fd2478cc20d0d967ec70d43ffeb7350e9aade530f7eb6',
      s: '0x28484e106aeae67f36a1795592306cd32e52c4efc5b294e805b47399b17d06f1',
      v: 28,
    },
  },
  {
    name: 'approveBuilderFee',
    action: {
      type: 'approveBuilderFee',
      signatureChainId: '0x66eee',
      hyperliquidChain: 'Mainnet',
      maxFeeRate: '0.01%',
      builder: '0x6530512A6c89C7cfCEbC3BA7fcD9aDa5f30827a6',
      nonce: 1731628800012,
    },
    digest: '0xc8222b06befab7e56972d02050840e28cea7509d5688743a36903b99eec8b201',
    signature: {
      r: '0x567b11b56e82a20ec7336b691da4272c9d0651276b8fff02b21b0737bdcacb53',
      s: '0x04a9ae25c5ef104b4d5bc3f5fb4897488565135481815d7fec79bccca1070d9f',
      v: 27,
    },
  },
  {
    name: 'usdSend',
    action: {
      type: 'usdSend',
      signatureChainId: '0x66eee',
      hyperliquidChain: 'Testnet',
      destination: '0x5e9ee1089755c3435139848e47e6635505d5a13a',
      amount: '1',
      time: 1687816341423,
    },
    digest: '0xcacf7585cc49ca60c6c5fb3001e226c0ca03c46252c893eea574c78907b7cebe',
    signature: {
      r: '0x637b37dd731507cdd24f46532ca8ba6eec616952c56218baeff04144e4a77073',
      s: '0x11a6a24900e6e314136d2592e2f8d502cd89b7c15b198e1bee043c9589f9fad7',
      v: 27,
    },
  },
  {
    name: 'withdraw3',
    action: {
      type: 'withdraw3',
      signatureChainId: '0x66eee',
      hyperliquidChain: 'Testnet',
      destination: '0x5e9ee1089755c3435139848e47e6635505d5a13a',
      amount: '1',
      time: 1687816341423,
    },
    digest: '0x8080d06f566813165cec60d85300445133b3439e9c92e10b93ed510372608899',
    signature: {
      r: '0x8363524c799e90ce9bc41022f7c39b4e9bdba786e5f9c72b20e43e1462c37cf9',
      s: '0x58b1411a775938b83e29182e8ef74975f9054c8e97ebf5ec2dc8d51bfc893881',
      v: 28,
    },
  },
]
