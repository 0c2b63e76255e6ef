import type { ExchangeAction } from '../envelope.ts'
import type { PhantomSource } from '../phantomAgent.ts'
import type { Signed } from './vectorSigner.ts'

// Test vectors made with independent clients of the exchange, which agree on each of them.

/** An L1 action with every intermediate value up to its signature, on both networks. */
export interface L1Vector {
  readonly name: string
  readonly action: ExchangeAction
  readonly nonce: number
  readonly vaultAddress: string | null
  readonly expiresAfter: number | null
  readonly msgpack: string
  readonly connectionId: string
  readonly signed: Readonly<Record<PhantomSource, Signed>>
}

export const L1_VECTORS: readonly L1Vector[] = [
  {
    name: 'order-ioc',
    action: {
      type: 'order',
      orders: [{ a: 0, b: true, p: '68250', s: '0.01', r: false, t: { limit: { tif: 'Ioc' } } }],
      grouping: 'na',
    },
    nonce: 1731628800000,
    vaultAddress: null,
    expiresAfter: null,
    msgpack:
      '0x83a474797065a56f72646572a66f72646572739186a16100a162c3a170a53638323530a173a4302e3031a172c2a17481a56c696d697481a3746966a3496f63a867726f7570696e67a26e61',
    connectionId: '0x11d75eadb367388b788060b1dbe7cf5242027eb19b603d58222c5b581296df88',
    signed: {
      a: {
        digest: '0xdd81e534e7b36a33ca203aea4fc0faf994fa5df7af7e4f5679db2f7d77a26113',
        signature: {
          r: '0xa4963e190f5ac4631b2504cbb0083a37aa31752b57da65db653b9d129a23f822',
          s: '0x6b7562b9f3d5a41d1d3d1705ef95da66256cc761d4496a994d09ee5ff6ce0f83',
          v: 27,
        },
      },
      b: {
        digest: '0xade035388bb968a0f06df6d031ee24dad054fe333fbf1e35d5db4a725c03d3ab',
        signature: {
          r: '0x93b644c4c96ebfeba33999a6a8f25a275d931145c13219ab47ad3f8de10b1ced',
          s: '0x104c1bf9df52ab8a239caa40f85436a343b723669f45b76c2a6ac8391249df68',
          v: 28,
        },
      },
    },
  },
  {
    name: 'order-gtc-cloid',
    action: {
      type: 'order',
      orders: [
        {
          a: 1,
          b: false,
          p: '3500.5',
          s: '0.25',
          r: false,
          t: { limit: { tif: 'Gtc' } },
          c: '0x00000000000000000000000000000001',
        },
      ],
      grouping: 'na',
    },
    nonce: 1731628800001,
    vaultAddress: null,
    expiresAfter: null,
    msgpack:
      '0x83a474797065a56f72646572a66f72646572739187a16101a162c2a170a6333530302e35a173a4302e3235a172c2a17481a56c696d697481a3746966a3477463a163d92230783030303030303030303030303030303030303030303030303030303030303031a867726f7570696e67a26e61',
    connectionId: '0xa3d689e17b8089dbc017a7c0da43d8e89bec463adfd46471d0d4374f01e3fa63',
    signed: {
      a: {
        digest: '0xc0b0d350162ea8a43094adb7df379626cf1640ed098e325feae2c46da1d0fe8b',
        signature: {
          r: '0x292533f4bdc431c32a57faeb4448c6d5ad109b4c5591d7a97be6de75e771e011',
          s: '0x71021798bd64bb774638e9195e8ad03e8d903b0c2de7c530474ca791e8ca9c09',
          v: 28,
        },
      },
      b: {
        digest: '0x2bf2d6e40ef9c0072cde77b76f53c37aacb8c51891bef4ae8f449ae0a78647c8',
        signature: {
          r: '0xb1ca46eb5f6a2fd71825efb28360282dd42f538a42d7b5a92b9daaaaae682a04',
          s: '0x24e66c967d6d367f4c19aa16c8c0e7c574b1370788bd2197355280420c858f6a',
          v: 28,
        },
      },
    },
  },
  {
    name: 'order-trigger-sl-reduce',
    action: {
      type: 'order',
      orders: [
        {
          a: 0,
          b: false,
          p: '60000',
          s: '0.01',
          r: true,
          t: { trigger: { isMarket: true, triggerPx: '61000', tpsl: 'sl' } },
        },
      ],
      grouping: 'positionTpsl',
    },
    nonce: 1731628800002,
    vaultAddress: null,
    expiresAfter: null,
    msgpack:
      '0x83a474797065a56f72646572a66f72646572739186a16100a162c2a170a53630303030a173a4302e3031a172c3a17481a77472696767657283a869734d61726b6574c3a9747269676765725078a53631303030a47470736ca2736ca867726f7570696e67ac706f736974696f6e5470736c',
    connectionId: '0x2ce082155cf2f536fb14d3b0a33a316f7a0b6de283dee948bf3fe9650b50fe50',
    signed: {
      a: {
        digest: '0x8861af0c5822a526934b1caabcbc9068fe2ac44ccfea65b73010de16f4524360',
        signature: {
          r: '0x06d34b2e00eb1ee07c01240b6f17dff94dbe91cd2b959cc4df7e578a8f121e92',
          s: '0x5068ed59a5240fdbabd89e7b61042c3fca4e1861fa494f26ac969504e0b659e6',
          v: 27,
        },
      },
      b: {
        digest: '0xc894b3e50911805f6afc289e225ec17eef93dd69916ae1a0e76e9f07c5789b1f',
        signature: {
          r: '0x3af7c4de521f245ae3718fc7ed327c6cd439e18ebf615324026c95788ebac7a1',
          s: '0x76ed7dc64978d17133b3a3c99b558c0eed90fd03e31a0035c1f0faf15365d78e',
          v: 27,
        },
      },
    },
  },
  {
    name: 'cancel',
    action: { type: 'cancel', cancels: [{ a: 0, o: 9007199254740 }] },
    nonce: 1731628800003,
    vaultAddress: null,
    expiresAfter: null,
    msgpack: '0x82a474797065a663616e63656ca763616e63656c739182a16100a16fcf0000083126e978d4',
    connectionId: '0x9ffc42519c9dca3a8d5efa8d5fca76fa7b4d94bef4c5a4fde0f91628b02f4987',
    signed: {
      a: {
        digest: '0x0f69b48e25119376872d777381dce621c07ce72f9659468914bd25007c47773a',
        signature: {
          r: '0xee47f5f9bf1f4383897b9a35ced7fade6273f47e960b000bb2d039adc03e8ca4',
          s: '0x19e0a0b3c8479362bc098a822dcfde73be5899dcc3b368e10ffaffe5bca40c34',
          v: 27,
        },
      },
      b: {
        digest: '0xfc9bdf5a0e324aadd6c340bfca1d53afcc49213466d6fe2431220d41142b14b3',
        signature: {
          r: '0x5b69972b15ba7cc16cffa9b711f454681dcd3c47a357805591bd052bbd879c94',
          s: '0x63884a95ef1e3f96b903ad762e60d1e69dbe2026e40500597e22d420a1ea125e',
          v: 27,
        },
      },
    },
  },
  {
    name: 'cancelByCloid',
    action: { type: 'cancelByCloid', cancels: [{ asset: 0, cloid: '0x00000000000000000000000000000001' }] },
    nonce: 1731628800004,
    vaultAddress: null,
    expiresAfter: null,
    msgpack:
      '0x82a474797065ad63616e63656c4279436c6f6964a763616e63656c739182a5617373657400a5636c6f6964d92230783030303030303030303030303030303030303030303030303030303030303031',
    connectionId: '0xa614033a33e30ca16ddbbfb0dec41e2ab1f89a59ae84cc56aa3dee6ae35fbfac',
    signed: {
      a: {
        digest: '0x1952e6b547c47925f99c32314058fab9ebf171e8aded16b83bcad290d3c90660',
        signature: {
          r: '0x55c3de2b61e780951ab1972e06f5bb78648ad437736e1288b6f5d354401eac45',
          s: '0x6ef689438787b1fee55a2a1ced9d5985079c5bd739da04d7477784b924380bb7',
          v: 28,
        },
      },
      b: {
        digest: '0x877a98089f9921f6172136bd4751b539717b976b3e0fd6f3781b984d06649382',
        signature: {
          r: '0x0687120db9f5cb36530654226185e92a80979491b3f10f84bac0efe853b922fe',
          s: '0x50a88b077b85be28de12b161b40c09a54d5aed3c759676e030d6ad21d7067a58',
          v: 28,
        },
      },
    },
  },
  {
    name: 'batchModify',
    action: {
      type: 'batchModify',
      modifies: [{ oid: 77, order: { a: 0, b: true, p: '60100', s: '0.01', r: false, t: { limit: { tif: 'Gtc' } } } }],
    },
    nonce: 1731628800005,
    vaultAddress: null,
    expiresAfter: null,
    msgpack:
      '0x82a474797065ab62617463684d6f64696679a86d6f6469666965739182a36f69644da56f7264657286a16100a162c3a170a53630313030a173a4302e3031a172c2a17481a56c696d697481a3746966a3477463',
    connectionId: '0x3805a59c745004166f145b6c2d57e788733d2fb2b5ce4ade374cd8c366261cbc',
    signed: {
      a: {
        digest: '0xa5d65cd293208f51777f893784aaad8436fb5d82494b14eb3ed5a816919e302e',
        signature: {
          r: '0xb17e1604781abdb44f10c197235fa27672aadf8b8e44876b0109a1b407bca304',
          s: '0x2c4ff4079db1a4a7a7633d2d9da367e3268e07617b41ced5f8529e8b5092cb02',
          v: 27,
        },
      },
      b: {
        digest: '0xc50271cbc5d4a22129c3b129424b31e9da5be1c4c9e1dde03c5128465cd7513c',
        signature: {
          r: '0x928470c022bc44f9a5ea4c1ec19a34961722a19156a56fbed872342421fa7f4e',
          s: '0x18cf908a929491e9394f0ec3746879129ff79f1b2d5813fb02e3826729d66aa2',
          v: 28,
        },
      },
    },
  },
  {
    name: 'updateLeverage',
    action: { type: 'updateLeverage', asset: 0, isCross: false, leverage: 10 },
    nonce: 1731628800006,
    vaultAddress: null,
    expiresAfter: null,
    msgpack: '0x84a474797065ae7570646174654c65766572616765a5617373657400a7697343726f7373c2a86c657665726167650a',
    connectionId: '0xfea0d2813d2b74e0b952afc70a6cf13f3667523690941a355161065fcf063784',
    signed: {
      a: {
        digest: '0x6474d6f2ef35d75c0e0935577a87cab84ce24bd4909f570c8d728c009bb3bf0d',
        signature: {
          r: '0x4632aa6cc11aada614d37ab5c58f5cb66edefd2eaea60a2773286dde93488c69',
          s: '0x7632c70515b931cde00f5d4ea5a1721484ae215b484bf638b4888def5e001687',
          v: 28,
        },
      },
      b: {
        digest: '0x501d36a6db2f20aac69b086d3043758bce43ce1e336c9bc0916009698f84d183',
        signature: {
          r: '0x44dabf67f9b79662695aaf39cb5f435520bcd3004a8e617e1396484dc9276053',
          s: '0x479a4b92b517bdccfdc69d96fd80e5b5c6ae3c750d3d5871b1c7a47b5aed4e34',
          v: 28,
        },
      },
    },
  },
  {
    name: 'updateLeverage-vault',
    action: { type: 'updateLeverage', asset: 0, isCross: true, leverage: 25 },
    nonce: 1731628800007,
    vaultAddress: '0x1719884eb866cb12b2287399b15f7db5e7d775ea',
    expiresAfter: null,
    msgpack: '0x84a474797065ae7570646174654c65766572616765a5617373657400a7697343726f7373c3a86c6576657261676519',
    connectionId: '0x29e87468ef3f79122072e8c46b965cb95b02af80521f84bd41d908f5db9afb11',
    signed: {
      a: {
        digest: '0x0274881cc41c3ff5902dc025fc4eda964ec58a8f6868840545e3bcc478cd5e93',
        signature: {
          r: '0x470e7e040f2a7123bdb8af3911bd92a8bcdd437045cfd258a60dea55c1a7d41f',
          s: '0x3f76760bf21782f550086c43f6d39cae645ad8abd2d6b6671ef92afe3c6f8348',
          v: 28,
        },
      },
      b: {
        digest: '0x64897b7c468db80d76ea2cfd3900c5c098cab7de48e0baca655a8f79e4bc5793',
        signature: {
          r: '0x7cd6ce909c8d555073839f7ebc076c20eb386780eff67f0619e59c4944a75731',
          s: '0x16ddd9e1072e1ce2cbe627c60518f69759fea2735ec05d3fab107a3b59a8ebf6',
          v: 27,
        },
      },
    },
  },
  {
    name: 'order-expiresAfter',
    action: {
      type: 'order',
      orders: [{ a: 0, b: true, p: '68250', s: '0.01', r: false, t: { limit: { tif: 'Ioc' } } }],
      grouping: 'na',
    },
    nonce: 1731628800008,
    vaultAddress: null,
    expiresAfter: 1731628860000,
    msgpack:
      '0x83a474797065a56f72646572a66f72646572739186a16100a162c3a170a53638323530a173a4302e3031a172c2a17481a56c696d697481a3746966a3496f63a867726f7570696e67a26e61',
    connectionId: '0x3d19affc9748111f83d120e6fba1e4d0c487e28e54f977e9370919a8c58f77dc',
    signed: {
      a: {
        digest: '0xdd2d4e23273643154114e8950c5c381a8db41a02ca1535c410abc685c5eb7fe7',
        signature: {
          r: '0x9213231c8b4fb7abb5986a5cd480c3c8f51a50c5b29e53346714ee7d57ccd17b',
          s: '0x77aa662a06127a10890c7dab6aa4696630cf2494698877bcdba9100c39fe7fca',
          v: 28,
        },
      },
      b: {
        digest: '0xd5c4abee6f991f318161e15e032d22c5ec90c49a059c58d68b8485562456ca32',
        signature: {
          r: '0x170a4e471a8d974b8b07c4870839c60ccd582185f2f70c3753a4e26aaf23df57',
          s: '0x1a330b4c781f31128317b58587e0ce185fd568fa22c172b71702535831420ad6',
          v: 27,
        },
      },
    },
  },
  {
    name: 'updateIsolatedMargin-negative',
    action: { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: -1000000 },
    nonce: 1731628800009,
    vaultAddress: null,
    expiresAfter: null,
    msgpack: '0x84a474797065b475706461746549736f6c617465644d617267696ea5617373657400a56973427579c3a46e746c69d2fff0bdc0',
    connectionId: '0x193c3283461b4ddc3cc36263b4afeede04ab0aee7dff25e816ee2cad200ce62f',
    signed: {
      a: {
        digest: '0x55091d14065da379f4444188c4094b134b546cafc36cea6bccbbe744d26eaaa1',
        signature: {
          r: '0x00ecee22c051b2c71095fc117a0046a09f8f32d27c916af2d15b42530a274c1a',
          s: '0x3532749cdd3ea9a30a8daafbe6b4adcebfe1c4dabea49c6c3689397683a16e60',
          v: 27,
        },
      },
      b: {
        digest: '0xb479c45db930ec165f8a1b614de39ae3469cea0423f607e8715e79158065cd5d',
        signature: {
          r: '0xcc8b97376e2cc6d00154dda33ffb69d57dfc26d5d18b6a1a163cf9e4553a2cb9',
          s: '0x580615049a621fcaed016bd3a1ef86781fd72c1eeeaaf96d01ea08ab4af04cdb',
          v: 28,
        },
      },
    },
  },
]
