-- A store as the code with migrations 1 to 14 wrote it: its schema, and the rows that later migrations touch or reads join.
-- One trader opened two BTC trades through the facade and placed and moved a stop and a target for both; another opened
-- natively, lowered the leverage, closed half, and was closed by a take profit.
CREATE TABLE schema_version (version bigint not null);
CREATE TABLE chains (
      chain text not null primary key,
      chain_id bigint not null,
      diamond text not null,
      genesis_hash text not null
    );
CREATE TABLE agents (
      chain text not null,
      agent text not null,
      trader text not null,
      name text not null,
      scope text not null,
      mode text not null,
      agent_signed bigint not null,
      revoked bigint not null,
      created_at bigint not null,
      signed_at bigint not null,
      primary key (chain, agent)
    );
CREATE INDEX agents_by_trader on agents (chain, trader);
CREATE TABLE api_keys (
      chain text not null,
      trader text not null,
      label text not null,
      key_hash text not null,
      created_at bigint not null,
      signed_at bigint not null,
      primary key (chain, trader, label)
    );
CREATE UNIQUE INDEX api_keys_by_hash on api_keys (chain, key_hash);
CREATE TABLE nonces (
      chain text not null,
      agent text not null,
      nonce text not null,
      timestamp bigint not null,
      primary key (chain, agent, nonce)
    );
CREATE INDEX nonces_by_time on nonces (timestamp);
CREATE TABLE reference_prices (
      chain text not null,
      pair_index bigint not null,
      price text not null,
      primary key (chain, pair_index)
    );
CREATE TABLE id_sequence (next_id bigint not null);
CREATE TABLE orders (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      agent text,
      client_id text,
      origin_key text,
      request text not null,
      created_at bigint not null,
      spend_usd text not null,
      spend_day bigint,
      status text,
      state text,
      due_at bigint,
      due_block bigint,
      awaits_until bigint
    , filled_at bigint);
CREATE UNIQUE INDEX orders_by_client_id on orders (chain, trader, client_id) where client_id is not null;
CREATE UNIQUE INDEX orders_by_origin on orders (chain, origin_key) where origin_key is not null;
CREATE INDEX orders_by_trader on orders (chain, trader, id);
CREATE INDEX orders_prepared on orders (chain, agent) where status = 'prepared';
CREATE INDEX orders_timed_out on orders (chain) where status = 'timed_out';
CREATE INDEX orders_due_at on orders (chain, due_at) where due_at is not null;
CREATE INDEX orders_due_block on orders (chain, due_block) where due_block is not null;
CREATE INDEX orders_awaiting on orders (chain, id) where awaits_until is not null;
CREATE TABLE attempts (
      id text not null primary key,
      order_id bigint not null references orders (id),
      chain text not null,
      kind text not null,
      sender text not null,
      calldata text not null,
      call_digest text not null,
      gas text,
      created_at bigint not null,
      expires_at bigint not null,
      size text,
      submitted_hash text,
      submitted_at bigint,
      is_mismatch bigint not null,
      withdrawn_at bigint
    , trusted_until bigint);
CREATE INDEX attempts_by_order on attempts (order_id);
CREATE INDEX attempts_by_call on attempts (chain, sender, call_digest);
CREATE INDEX attempts_reported on attempts (order_id, submitted_at)
      where submitted_hash is not null and is_mismatch = 0;
CREATE INDEX attempts_by_hash on attempts (chain, submitted_hash) where submitted_hash is not null;
CREATE TABLE order_events (
      chain text not null,
      block_hash text not null,
      log_index bigint not null,
      block_number bigint not null,
      order_id bigint not null references orders (id),
      trader text not null,
      handle text,
      body text not null,
      primary key (chain, block_hash, log_index)
    );
CREATE INDEX order_events_by_order on order_events (order_id);
CREATE INDEX order_events_by_handle on order_events (chain, trader, handle) where handle is not null;
CREATE TABLE positions (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      origin_order_id bigint not null references orders (id),
      trade_index bigint,
      is_open bigint not null,
      state text
    , update_status text, update_due_block bigint, update_index bigint, update_attempt text);
CREATE UNIQUE INDEX positions_by_origin on positions (origin_order_id);
CREATE INDEX positions_by_trade on positions (chain, trader, trade_index);
CREATE INDEX positions_open on positions (chain) where is_open = 1;
CREATE TABLE position_events (
      chain text not null,
      block_hash text not null,
      log_index bigint not null,
      block_number bigint not null,
      position_id bigint not null references positions (id),
      body text not null, handle text,
      primary key (chain, block_hash, log_index)
    );
CREATE INDEX position_events_by_position on position_events (position_id, block_number, log_index);
CREATE TABLE fills (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      block_hash text not null,
      block_number bigint not null,
      log_index bigint not null,
      pair_index bigint not null,
      body text not null
    );
CREATE UNIQUE INDEX fills_by_place on fills (chain, block_hash, log_index);
CREATE INDEX fills_by_trader on fills (chain, trader, block_number, log_index);
CREATE INDEX fills_by_pair on fills (chain, pair_index, block_number, log_index);
CREATE TABLE spend (
      chain text not null,
      agent text not null,
      day bigint not null,
      spent_usd text not null,
      primary key (chain, agent, day)
    );
CREATE TABLE blocks (
      chain text not null,
      number bigint not null,
      hash text not null,
      parent_hash text not null,
      timestamp bigint not null,
      primary key (chain, number)
    );
CREATE TABLE account_logs (
      id bigint not null primary key,
      chain text not null,
      trader text not null,
      last_seq bigint not null,
      holdings text
    );
CREATE UNIQUE INDEX account_logs_by_trader on account_logs (chain, trader);
CREATE TABLE account_events (
      log_id bigint not null references account_logs (id),
      seq bigint not null,
      channel text not null,
      timestamp bigint not null,
      block_number bigint,
      is_reverted bigint not null,
      data text not null,
      primary key (log_id, seq)
    );
CREATE INDEX orders_filled on orders (chain, trader, filled_at, id) where filled_at is not null;
CREATE TABLE candles (
      pair_index bigint not null,
      width_ms bigint not null,
      begin_ms bigint not null,
      body text not null,
      primary key (pair_index, width_ms, begin_ms)
    );
CREATE TABLE running_candles (
      id bigint not null primary key,
      body text not null
    );
CREATE TABLE notice_sequence (next_id bigint not null);
CREATE TABLE notices (
      trader text not null,
      id bigint not null,
      chain text not null,
      type text not null,
      subject text not null,
      content text not null,
      created_at bigint not null,
      expires_at bigint,
      is_withdrawn bigint not null,
      primary key (trader, id)
    );
CREATE UNIQUE INDEX notices_by_subject on notices (chain, type, subject);
CREATE INDEX notices_by_expiry on notices (expires_at);
CREATE TABLE notice_dismissals (
      notice_id bigint not null,
      trader text not null,
      primary key (notice_id, trader)
    );
CREATE TABLE seen_delegations (
      chain text not null,
      trader text not null,
      agent text not null,
      primary key (chain, trader)
    );
CREATE TABLE facade_nonces (
      signer text not null,
      nonce bigint not null,
      primary key (signer, nonce)
    );
CREATE INDEX facade_nonces_by_time on facade_nonces (nonce);
CREATE TABLE facade_nonce_floor (up_to bigint not null);
CREATE TABLE relay_senders (
      chain text not null,
      sender text not null,
      first_nonce bigint not null,
      next_nonce bigint not null,
      primary key (chain, sender)
    );
CREATE TABLE relay_entries (
      chain text not null,
      sender text not null,
      nonce bigint not null,
      state text not null,
      attempt_id text,
      trader text,
      calldata text,
      gas bigint not null,
      expires_at bigint not null,
      day bigint not null,
      counted_wei text not null,
      ended_at bigint,
      primary key (chain, sender, nonce)
    );
CREATE INDEX relay_entries_live on relay_entries (chain, sender, nonce) where state = 'live';
CREATE UNIQUE INDEX relay_entries_by_attempt on relay_entries (chain, attempt_id)
      where attempt_id is not null and state <> 'lost';
CREATE INDEX relay_entries_ended on relay_entries (ended_at) where ended_at is not null;
CREATE TABLE relay_versions (
      chain text not null,
      sender text not null,
      nonce bigint not null,
      version bigint not null,
      kind text not null,
      hash text not null,
      raw text not null,
      max_fee_wei text not null,
      max_priority_fee_wei text not null,
      created_at bigint not null,
      primary key (chain, sender, nonce, version)
    );
CREATE UNIQUE INDEX relay_versions_by_hash on relay_versions (chain, hash);
CREATE TABLE relay_gas (
      chain text not null,
      day bigint not null,
      trader text not null,
      wei text not null,
      primary key (chain, day, trader)
    );
CREATE TABLE facade_triggers (
      position_id bigint not null references positions (id),
      kind text not null,
      oid bigint not null,
      primary key (position_id, kind)
    );
CREATE UNIQUE INDEX facade_triggers_by_oid on facade_triggers (oid);
CREATE TABLE facade_leverages (
      chain text not null,
      trader text not null,
      pair_index bigint not null,
      leverage bigint not null,
      primary key (chain, trader, pair_index)
    );
CREATE TABLE facade_cloids (
      chain text not null,
      trader text not null,
      cloid text not null,
      asked text not null,
      oid bigint not null,
      primary key (chain, trader, cloid)
    );
CREATE TABLE facade_schedules (
      chain text not null,
      trader text not null,
      agent text not null,
      due_at bigint not null,
      primary key (chain, trader)
    );
CREATE INDEX facade_schedules_due on facade_schedules (chain, due_at);
CREATE TABLE facade_former_triggers (
      oid bigint not null primary key,
      position_id bigint not null references positions (id),
      kind text not null
    );
CREATE INDEX position_events_by_handle on position_events (chain, handle) where handle is not null;
CREATE INDEX positions_updating on positions (chain, update_due_block) where update_due_block is not null;
CREATE TABLE position_attempts (
      id text not null,
      position_id bigint not null references positions (id),
      kind text not null,
      sender text not null,
      pending_index bigint,
      expires_at bigint not null,
      primary key (id, position_id)
    );
CREATE INDEX position_attempts_by_position on position_attempts (position_id);
CREATE INDEX orders_live on orders (chain, trader, id) where status in ('prepared', 'pending', 'open', 'timed_out');
CREATE TABLE change_charges (
      attempt_id text not null primary key references attempts (id),
      order_id bigint not null references orders (id),
      agent text not null,
      usd text not null,
      day bigint
    );
CREATE INDEX change_charges_by_order on change_charges (order_id);
insert into schema_version (version) values (14);
insert into chains (chain, chain_id, diamond, genesis_hash) values ('arbitrum-sepolia', 421614, '0x09bDa267Fd9db2a5586fed3870B758Ce4E5c60E2', '0x2d463307b1c8c6c0b5d30f64a6dbadb7f986f45755255ea329541d8f40664c3a');
insert into id_sequence (next_id) values (25);
insert into orders (id, chain, trader, agent, client_id, origin_key, request, created_at, spend_usd, spend_day, status, state, due_at, due_block, awaits_until, filled_at) values (1, 'arbitrum-sepolia', '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', '0x4082c833EC182979622b4c14184d6C0EeeafDd7A', null, null, '{"kind":"open","market":"BTC/USD","pairIndex":0,"side":"long","type":"market","size":"0.05","price":"60000","leverage":"10","collateral":"USDC","collateralIndex":3,"sl":null,"tp":null,"reduceOnly":false,"slippage":"5","clientId":null,"legs":[]}', 1794802842104, '3000600200931000000000', 20773, 'filled', '{"status":"filled","size":"0.05","price":"60000","sl":null,"tp":null,"slippage":"5","txHash":"0x4e2e9761ba46a2e96be267c8ca137f20e3fcd838095761c325c84021ba15e912","expiresAtMs":null,"fill":{"price":"60012.01151862","size":"0.050000000151119765","collateral":"300.060021","feeCollateral":"1.80036","txHash":"0xc8494e352e55243971b181de3578bea15c8c2ca2d0275142ac1ac880656287c8","timestamp":1794802842000,"positionId":"2"},"reason":null,"updatedAtMs":1794802842110,"tradeIndex":null,"unanswered":[],"dueAtMs":null,"dueBlock":null,"countedSinceMs":1794802842104}', null, null, null, 1794802842000);
insert into orders (id, chain, trader, agent, client_id, origin_key, request, created_at, spend_usd, spend_day, status, state, due_at, due_block, awaits_until, filled_at) values (6, 'arbitrum-sepolia', '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', '0x4082c833EC182979622b4c14184d6C0EeeafDd7A', null, null, '{"kind":"open","market":"BTC/USD","pairIndex":0,"side":"long","type":"market","size":"0.03","price":"60000","leverage":"10","collateral":"USDC","collateralIndex":3,"sl":null,"tp":null,"reduceOnly":false,"slippage":"5","clientId":null,"legs":[]}', 1794802842762, '1800360313453800000000', 20773, 'filled', '{"status":"filled","size":"0.03","price":"60000","sl":null,"tp":null,"slippage":"5","txHash":"0x4154aa27538aba40b4712685c942d8bdd89427ad2b4f21b421e0a9049207d07b","expiresAtMs":null,"fill":{"price":"60012.02994846","size":"0.030000000109081498","collateral":"180.036032","feeCollateral":"1.080216","txHash":"0x6a028992fbb5693a7190f791959193081094c785733ad4083d42156e74d08dc3","timestamp":1794802843000,"positionId":"7"},"reason":null,"updatedAtMs":1794802843000,"tradeIndex":null,"unanswered":[],"dueAtMs":null,"dueBlock":null,"countedSinceMs":1794802842762}', null, null, null, 1794802843000);
insert into orders (id, chain, trader, agent, client_id, origin_key, request, created_at, spend_usd, spend_day, status, state, due_at, due_block, awaits_until, filled_at) values (13, 'arbitrum-sepolia', '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', '0x4082c833EC182979622b4c14184d6C0EeeafDd7A', null, null, '{"kind":"open","market":"BTC/USD","pairIndex":0,"side":"long","type":"limit","size":"0.05","price":"50000","leverage":"10","collateral":"USDC","collateralIndex":3,"sl":null,"tp":null,"reduceOnly":false,"slippage":"1","clientId":null,"legs":[]}', 1794802843376, '2500500675357500000000', 20773, 'open', '{"status":"open","size":"0.05","price":"50000","sl":null,"tp":null,"slippage":"1","txHash":"0x5c6b1855ffe932cf5d795e1f769ad18fd04df8aa3b4d3e62d3068821035ccabd","expiresAtMs":null,"fill":null,"reason":null,"updatedAtMs":1794802843378,"tradeIndex":2,"unanswered":[],"dueAtMs":null,"dueBlock":null,"countedSinceMs":1794802843376}', null, null, null, null);
insert into orders (id, chain, trader, agent, client_id, origin_key, request, created_at, spend_usd, spend_day, status, state, due_at, due_block, awaits_until, filled_at) values (14, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x8e32e79781136104B0DABBa623660D0AB79875E5', 'first', null, '{"kind":"open","market":"BTC/USD","pairIndex":0,"side":"long","type":"market","size":"0.02","price":null,"leverage":"10","collateral":"USDC","collateralIndex":3,"sl":null,"tp":null,"reduceOnly":false,"slippage":"1","clientId":"first","legs":[]}', 1794802843636, '1200240289342800000000', 20773, 'filled', '{"status":"filled","size":"0.02","price":null,"sl":null,"tp":null,"slippage":"1","txHash":"0x359e09ab95b5908cc3e3a6d702b27166e678451bdc456ec20e51bef051c065dd","expiresAtMs":null,"fill":{"price":"60012.04146714","size":"0.02000000001095114","collateral":"120.024029","feeCollateral":"0.75","txHash":"0x6aff55fa2d43f9264b27d38d6bceeeda77f70d90e0ef5a4f191d3ee9c2401b55","timestamp":1794802844000,"positionId":"15"},"reason":null,"updatedAtMs":1794802844000,"tradeIndex":null,"unanswered":[],"dueAtMs":null,"dueBlock":null,"countedSinceMs":1794802843636}', null, null, null, 1794802844000);
insert into orders (id, chain, trader, agent, client_id, origin_key, request, created_at, spend_usd, spend_day, status, state, due_at, due_block, awaits_until, filled_at) values (18, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x8e32e79781136104B0DABBa623660D0AB79875E5', null, null, '{"kind":"close","market":"BTC/USD","pairIndex":0,"side":"short","type":"market","size":"0.01","price":null,"sl":null,"tp":null,"reduceOnly":true,"slippage":"1","clientId":null,"leverage":"5","collateral":"USDC","collateralIndex":3,"legs":[{"positionId":"15","tradeIndex":0,"size":"0.01"}]}', 1794802844645, '0', null, 'filled', '{"status":"filled","size":"0.01","price":null,"sl":null,"tp":null,"slippage":"1","txHash":"0xf80afc58a4561ed19a9b05807dd6c1a4ec70483df3fca1e8150b7fa57e6540f6","expiresAtMs":null,"fill":{"price":"59988.02773458","size":"0.00999999992215892","collateral":"120.024028","feeCollateral":"0.75","txHash":"0x01f3e81c0508fbf449f0fe5558f127516bc0bcb3c248ba1bfb6ffbe21cad28ff","timestamp":1794802845000,"positionId":"15"},"reason":null,"updatedAtMs":1794802845000,"tradeIndex":null,"unanswered":[],"dueAtMs":null,"dueBlock":null,"countedSinceMs":1794802844645}', null, null, null, 1794802845000);
insert into orders (id, chain, trader, agent, client_id, origin_key, request, created_at, spend_usd, spend_day, status, state, due_at, due_block, awaits_until, filled_at) values (20, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x8e32e79781136104B0DABBa623660D0AB79875E5', 'tp', null, '{"kind":"open","market":"BTC/USD","pairIndex":0,"side":"short","type":"market","size":"0.02","price":null,"leverage":"10","collateral":"USDC","collateralIndex":3,"sl":null,"tp":"59000","reduceOnly":false,"slippage":"1","clientId":"tp","legs":[]}', 1794802845251, '1199759938776000000000', 20773, 'filled', '{"status":"filled","size":"0.02","price":null,"sl":null,"tp":"59000","slippage":"1","txHash":"0x81a1c9a9efe7a8556b8addf03359206b6e1a664571cfea6469541008d3b33ab2","expiresAtMs":null,"fill":{"price":"59988.0209388","size":"0.020000000020404081","collateral":"119.975994","feeCollateral":"0.75","txHash":"0x83a9f12d953132a58eab439bf1f52bee9194755878ccb9b75aa0fdc0359e86cc","timestamp":1794802845000,"positionId":"21"},"reason":null,"updatedAtMs":1794802845251,"tradeIndex":null,"unanswered":[],"dueAtMs":null,"dueBlock":null,"countedSinceMs":1794802845251}', null, null, null, 1794802845000);
insert into orders (id, chain, trader, agent, client_id, origin_key, request, created_at, spend_usd, spend_day, status, state, due_at, due_block, awaits_until, filled_at) values (24, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', null, null, 'tp:21', '{"kind":"close","market":"BTC/USD","pairIndex":0,"side":"long","type":"limit","size":"0.020000000020404081","price":"59000","leverage":"10","collateral":"USDC","collateralIndex":3,"sl":null,"tp":null,"reduceOnly":true,"slippage":"1","clientId":null,"legs":[{"positionId":"21","tradeIndex":1,"size":"0.020000000020404081"}]}', 1794802846000, '0', null, 'filled', '{"status":"filled","size":"0.020000000020404081","price":"59000","sl":null,"tp":null,"slippage":"1","txHash":"0xf87aecf58e1e88d21ab0096c82007abbaf4fb8637ead085f5fe5354f76a71fac","expiresAtMs":null,"fill":{"price":"59011.9159594444","size":"0.020000000020404081","collateral":"119.975994","feeCollateral":"0.75","txHash":"0xf87aecf58e1e88d21ab0096c82007abbaf4fb8637ead085f5fe5354f76a71fac","timestamp":1794802846000,"positionId":"21"},"reason":null,"updatedAtMs":1794802846000,"tradeIndex":null,"unanswered":[],"dueAtMs":null,"dueBlock":null,"countedSinceMs":1794802846000}', null, null, null, 1794802846000);
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0xca24c7c23bedc316a9c115701a23166873d99e249f99265ff4daa6314d0cd33f', 1, 93, 1, '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', 'pending:0', '{"blockNumber":93,"blockHash":"0xca24c7c23bedc316a9c115701a23166873d99e249f99265ff4daa6314d0cd33f","logIndex":1,"txHash":"0x4e2e9761ba46a2e96be267c8ca137f20e3fcd838095761c325c84021ba15e912","timestampMs":1794802842000,"attemptId":"0xee814885f4de5633","kind":"requested","pendingIndex":0,"tradeIndex":0}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0xb5709a47ab89a40be115cb18f63b198828f5c7920db317b640549fc541a685ad', 18, 96, 1, '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', null, '{"blockNumber":96,"blockHash":"0xb5709a47ab89a40be115cb18f63b198828f5c7920db317b640549fc541a685ad","logIndex":18,"txHash":"0xc8494e352e55243971b181de3578bea15c8c2ca2d0275142ac1ac880656287c8","timestampMs":1794802842000,"attemptId":null,"kind":"executed","pendingIndex":0,"fill":{"price":"60012.01151862","size":"0.050000000151119765","collateral":"300.060021","feeCollateral":"1.80036","txHash":"0xc8494e352e55243971b181de3578bea15c8c2ca2d0275142ac1ac880656287c8","timestamp":1794802842000,"positionId":"2"},"sl":"0n"}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0x6dde48dc899a1451dad2e054e103a5b64d62bb8155258d5ee6e61ce1b8460575', 1, 99, 6, '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', 'pending:1', '{"blockNumber":99,"blockHash":"0x6dde48dc899a1451dad2e054e103a5b64d62bb8155258d5ee6e61ce1b8460575","logIndex":1,"txHash":"0x4154aa27538aba40b4712685c942d8bdd89427ad2b4f21b421e0a9049207d07b","timestampMs":1794802842000,"attemptId":"0xc5f56f903e8e9451","kind":"requested","pendingIndex":1,"tradeIndex":0}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0xdf35b335e9137657f2afb85ab5786e33c08c7a6385375dfbad4c1dbd16b98075', 18, 102, 6, '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', null, '{"blockNumber":102,"blockHash":"0xdf35b335e9137657f2afb85ab5786e33c08c7a6385375dfbad4c1dbd16b98075","logIndex":18,"txHash":"0x6a028992fbb5693a7190f791959193081094c785733ad4083d42156e74d08dc3","timestampMs":1794802843000,"attemptId":null,"kind":"executed","pendingIndex":1,"fill":{"price":"60012.02994846","size":"0.030000000109081498","collateral":"180.036032","feeCollateral":"1.080216","txHash":"0x6a028992fbb5693a7190f791959193081094c785733ad4083d42156e74d08dc3","timestamp":1794802843000,"positionId":"7"},"sl":"0n"}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0x7ecf7ecf8f19aade2805f69bad3dc1f0413bed505b9a3b03970da68df2a8332e', 1, 106, 13, '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', 'trade:2', '{"blockNumber":106,"blockHash":"0x7ecf7ecf8f19aade2805f69bad3dc1f0413bed505b9a3b03970da68df2a8332e","logIndex":1,"txHash":"0x5c6b1855ffe932cf5d795e1f769ad18fd04df8aa3b4d3e62d3068821035ccabd","timestampMs":1794802843000,"attemptId":"0x0b93736530f91dd2","kind":"placed","tradeIndex":2,"collateralAmount":"250050068n","price":"500000000000000n","sl":"0n","tp":"0n","slippageP":1000}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0xd01270b06a1b12d6641fdf0442f42fedee981ab8272f3c039b451bd09c7a9d8a', 1, 109, 14, '0x8e32e79781136104B0DABBa623660D0AB79875E5', 'pending:0', '{"blockNumber":109,"blockHash":"0xd01270b06a1b12d6641fdf0442f42fedee981ab8272f3c039b451bd09c7a9d8a","logIndex":1,"txHash":"0x359e09ab95b5908cc3e3a6d702b27166e678451bdc456ec20e51bef051c065dd","timestampMs":1794802843000,"attemptId":"0x3d42a6f36a49ce69","kind":"requested","pendingIndex":0,"tradeIndex":0}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0x19f2b70a2227ee3963a8f1bbdfcc8a481efa2a9b0f9e6eec8857df3354f9e96a', 18, 112, 14, '0x8e32e79781136104B0DABBa623660D0AB79875E5', null, '{"blockNumber":112,"blockHash":"0x19f2b70a2227ee3963a8f1bbdfcc8a481efa2a9b0f9e6eec8857df3354f9e96a","logIndex":18,"txHash":"0x6aff55fa2d43f9264b27d38d6bceeeda77f70d90e0ef5a4f191d3ee9c2401b55","timestampMs":1794802844000,"attemptId":null,"kind":"executed","pendingIndex":0,"fill":{"price":"60012.04146714","size":"0.02000000001095114","collateral":"120.024029","feeCollateral":"0.75","txHash":"0x6aff55fa2d43f9264b27d38d6bceeeda77f70d90e0ef5a4f191d3ee9c2401b55","timestamp":1794802844000,"positionId":"15"},"sl":"0n"}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0xa191a2d0e8219fb5d70cca1ec984068c5d1418ca68458d2ab63340ad8e71ae84', 0, 119, 18, '0x8e32e79781136104B0DABBa623660D0AB79875E5', 'pending:2', '{"blockNumber":119,"blockHash":"0xa191a2d0e8219fb5d70cca1ec984068c5d1418ca68458d2ab63340ad8e71ae84","logIndex":0,"txHash":"0xf80afc58a4561ed19a9b05807dd6c1a4ec70483df3fca1e8150b7fa57e6540f6","timestampMs":1794802844000,"attemptId":"0x29d57f36ee3dde98","kind":"requested","pendingIndex":2,"tradeIndex":0}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0x32dbf6a92e3fa3443ec807161d72242f75ba2e1b2d663bc4dfe9ef565dfffa94', 23, 122, 18, '0x8e32e79781136104B0DABBa623660D0AB79875E5', null, '{"blockNumber":122,"blockHash":"0x32dbf6a92e3fa3443ec807161d72242f75ba2e1b2d663bc4dfe9ef565dfffa94","logIndex":23,"txHash":"0x01f3e81c0508fbf449f0fe5558f127516bc0bcb3c248ba1bfb6ffbe21cad28ff","timestampMs":1794802845000,"attemptId":null,"kind":"executed","pendingIndex":2,"fill":{"price":"59988.02773458","size":"0.00999999992215892","collateral":"120.024028","feeCollateral":"0.75","txHash":"0x01f3e81c0508fbf449f0fe5558f127516bc0bcb3c248ba1bfb6ffbe21cad28ff","timestamp":1794802845000,"positionId":"15"}}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0x9703956efbd74248a2d1bbf38443ea0d2af0fbe0898287901ec831781d024b75', 1, 125, 20, '0x8e32e79781136104B0DABBa623660D0AB79875E5', 'pending:3', '{"blockNumber":125,"blockHash":"0x9703956efbd74248a2d1bbf38443ea0d2af0fbe0898287901ec831781d024b75","logIndex":1,"txHash":"0x81a1c9a9efe7a8556b8addf03359206b6e1a664571cfea6469541008d3b33ab2","timestampMs":1794802845000,"attemptId":"0x4704cab31f9d4495","kind":"requested","pendingIndex":3,"tradeIndex":0}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0x2f8bd0e05a9be3f9178ad3d6ac6d3757eefce49190a9ceeda5700c9fab9fd1ab', 18, 128, 20, '0x8e32e79781136104B0DABBa623660D0AB79875E5', null, '{"blockNumber":128,"blockHash":"0x2f8bd0e05a9be3f9178ad3d6ac6d3757eefce49190a9ceeda5700c9fab9fd1ab","logIndex":18,"txHash":"0x83a9f12d953132a58eab439bf1f52bee9194755878ccb9b75aa0fdc0359e86cc","timestampMs":1794802845000,"attemptId":null,"kind":"executed","pendingIndex":3,"fill":{"price":"59988.0209388","size":"0.020000000020404081","collateral":"119.975994","feeCollateral":"0.75","txHash":"0x83a9f12d953132a58eab439bf1f52bee9194755878ccb9b75aa0fdc0359e86cc","timestamp":1794802845000,"positionId":"21"},"sl":"0n"}');
insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body) values ('arbitrum-sepolia', '0x9685d88cfffa84143dfbbe36a62d0babc75f38b0cbfb5dcb1a959d32c7c9e002', 23, 134, 24, '0x8e32e79781136104B0DABBa623660D0AB79875E5', null, '{"blockNumber":134,"blockHash":"0x9685d88cfffa84143dfbbe36a62d0babc75f38b0cbfb5dcb1a959d32c7c9e002","logIndex":23,"txHash":"0xf87aecf58e1e88d21ab0096c82007abbaf4fb8637ead085f5fe5354f76a71fac","timestampMs":1794802846000,"attemptId":null,"kind":"executed","pendingIndex":null,"fill":{"price":"59011.9159594444","size":"0.020000000020404081","collateral":"119.975994","feeCollateral":"0.75","txHash":"0xf87aecf58e1e88d21ab0096c82007abbaf4fb8637ead085f5fe5354f76a71fac","timestamp":1794802846000,"positionId":"21"}}');
insert into positions (id, chain, trader, origin_order_id, trade_index, is_open, state, update_status, update_due_block, update_index, update_attempt) values (2, 'arbitrum-sepolia', '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', 1, 0, 1, '{"isOpen":true,"trade":{"user":"0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93","index":0,"pairIndex":0,"leverage":10000,"long":true,"isOpen":true,"collateralIndex":3,"tradeType":0,"collateralAmount":"300060021n","openPrice":"600120115186200n","tp":"670000000000000n","sl":"575000000000000n","isCounterTrade":false,"positionSizeToken":"50000000151119765n"},"info":{"collateralPriceUsd":100000000,"contractsVersion":2,"lastPosIncreaseBlock":96},"liquidationParams":{"maxLiqSpreadP":500000000,"startLiqThresholdP":900000000000,"endLiqThresholdP":750000000000,"startLeverage":25000,"endLeverage":60000},"feesData":{"realizedTradingFeesCollateral":"1800360n","realizedPnlCollateral":"0n","initialAccFundingFeeP":"0n","initialAccBorrowingFeeP":"0n"},"oldBorrowing":{"accPairFee":"0n","accGroupFee":"0n","block":96},"maxClosingSlippageP":0,"openedAtBlock":96,"openedAtMs":1794802842000,"updatedAtMs":1794802843000,"pendingUpdate":null,"updateRefusal":null}', null, null, null, null);
insert into positions (id, chain, trader, origin_order_id, trade_index, is_open, state, update_status, update_due_block, update_index, update_attempt) values (7, 'arbitrum-sepolia', '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', 6, 1, 1, '{"isOpen":true,"trade":{"user":"0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93","index":1,"pairIndex":0,"leverage":10000,"long":true,"isOpen":true,"collateralIndex":3,"tradeType":0,"collateralAmount":"180036032n","openPrice":"600120299484600n","tp":"670000000000000n","sl":"575000000000000n","isCounterTrade":false,"positionSizeToken":"30000000109081498n"},"info":{"collateralPriceUsd":100000000,"contractsVersion":2,"lastPosIncreaseBlock":102},"liquidationParams":{"maxLiqSpreadP":500000000,"startLiqThresholdP":900000000000,"endLiqThresholdP":750000000000,"startLeverage":25000,"endLeverage":60000},"feesData":{"realizedTradingFeesCollateral":"1080216n","realizedPnlCollateral":"0n","initialAccFundingFeeP":"0n","initialAccBorrowingFeeP":"1902000000000000000n"},"oldBorrowing":{"accPairFee":"0n","accGroupFee":"0n","block":102},"maxClosingSlippageP":0,"openedAtBlock":102,"openedAtMs":1794802843000,"updatedAtMs":1794802843000,"pendingUpdate":null,"updateRefusal":null}', null, null, null, null);
insert into positions (id, chain, trader, origin_order_id, trade_index, is_open, state, update_status, update_due_block, update_index, update_attempt) values (15, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', 14, 0, 1, '{"isOpen":true,"trade":{"user":"0x8e32e79781136104B0DABBa623660D0AB79875E5","index":0,"pairIndex":0,"leverage":5000,"long":true,"isOpen":true,"collateralIndex":3,"tradeType":0,"collateralAmount":"120024030n","openPrice":"600120414671400n","tp":"0n","sl":"0n","isCounterTrade":false,"positionSizeToken":"10000000088792220n"},"info":{"collateralPriceUsd":100000000,"contractsVersion":2,"lastPosIncreaseBlock":112},"liquidationParams":{"maxLiqSpreadP":500000000,"startLiqThresholdP":900000000000,"endLiqThresholdP":750000000000,"startLeverage":25000,"endLeverage":60000},"feesData":{"realizedTradingFeesCollateral":"420940n","realizedPnlCollateral":"0n","initialAccFundingFeeP":"0n","initialAccBorrowingFeeP":"5706000000000000000n"},"oldBorrowing":{"accPairFee":"0n","accGroupFee":"0n","block":122},"maxClosingSlippageP":0,"openedAtBlock":112,"openedAtMs":1794802844000,"updatedAtMs":1794802845000,"pendingUpdate":null,"updateRefusal":null}', null, null, null, null);
insert into positions (id, chain, trader, origin_order_id, trade_index, is_open, state, update_status, update_due_block, update_index, update_attempt) values (21, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', 20, 1, 0, '{"isOpen":false,"trade":{"user":"0x8e32e79781136104B0DABBa623660D0AB79875E5","index":1,"pairIndex":0,"leverage":10000,"long":false,"isOpen":false,"collateralIndex":3,"tradeType":0,"collateralAmount":"119975994n","openPrice":"599880209388000n","tp":"590000000000000n","sl":"0n","isCounterTrade":false,"positionSizeToken":"20000000020404081n"},"info":{"collateralPriceUsd":100000000,"contractsVersion":2,"lastPosIncreaseBlock":128},"liquidationParams":{"maxLiqSpreadP":500000000,"startLiqThresholdP":900000000000,"endLiqThresholdP":750000000000,"startLeverage":25000,"endLeverage":60000},"feesData":{"realizedTradingFeesCollateral":"750003n","realizedPnlCollateral":"0n","initialAccFundingFeeP":"0n","initialAccBorrowingFeeP":"7573130000000000000n"},"oldBorrowing":{"accPairFee":"0n","accGroupFee":"0n","block":134},"maxClosingSlippageP":0,"openedAtBlock":128,"openedAtMs":1794802845000,"updatedAtMs":1794802846000,"pendingUpdate":null,"updateRefusal":null}', null, null, null, null);
insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body) values (3, 'arbitrum-sepolia', '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', '0xb5709a47ab89a40be115cb18f63b198828f5c7920db317b640549fc541a685ad', 96, 18, 0, '{"id":3,"market":"BTC/USD","action":"TradeOpenedMarket","side":"long","price":"60012.01151862","size":"0.050000000151119765","collateral":"300.060021","leverage":"10","pnl":"0","timestamp":1794802842000,"txHash":"0xc8494e352e55243971b181de3578bea15c8c2ca2d0275142ac1ac880656287c8","positionId":"2"}');
insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body) values (8, 'arbitrum-sepolia', '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93', '0xdf35b335e9137657f2afb85ab5786e33c08c7a6385375dfbad4c1dbd16b98075', 102, 18, 0, '{"id":8,"market":"BTC/USD","action":"TradeOpenedMarket","side":"long","price":"60012.02994846","size":"0.030000000109081498","collateral":"180.036032","leverage":"10","pnl":"0","timestamp":1794802843000,"txHash":"0x6a028992fbb5693a7190f791959193081094c785733ad4083d42156e74d08dc3","positionId":"7"}');
insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body) values (16, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x19f2b70a2227ee3963a8f1bbdfcc8a481efa2a9b0f9e6eec8857df3354f9e96a', 112, 18, 0, '{"id":16,"market":"BTC/USD","action":"TradeOpenedMarket","side":"long","price":"60012.04146714","size":"0.02000000001095114","collateral":"120.024029","leverage":"10","pnl":"0","timestamp":1794802844000,"txHash":"0x6aff55fa2d43f9264b27d38d6bceeeda77f70d90e0ef5a4f191d3ee9c2401b55","positionId":"15"}');
insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body) values (17, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x253e0786c20fdf7c0da0bcd2997c706a9faa6dccf22674a147e1907e13f73acf', 117, 4, 0, '{"id":17,"market":"BTC/USD","action":"TradeLeverageUpdate","side":"long","price":"60000","size":"0.02000000001095114","collateral":"240.048058","leverage":"5","pnl":"0","timestamp":1794802844000,"txHash":"0x7343a3f822528b7893c743a61de13fb2f9e8e7fadfc5ca1772c338d7d932caed","positionId":"15"}');
insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body) values (19, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x32dbf6a92e3fa3443ec807161d72242f75ba2e1b2d663bc4dfe9ef565dfffa94', 122, 23, 0, '{"id":19,"market":"BTC/USD","action":"TradePosSizeDecrease","side":"long","price":"59988.02773458","size":"0.00999999992215892","collateral":"120.024028","leverage":"5","pnl":"-0.240137","timestamp":1794802845000,"txHash":"0x01f3e81c0508fbf449f0fe5558f127516bc0bcb3c248ba1bfb6ffbe21cad28ff","positionId":"15"}');
insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body) values (22, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x2f8bd0e05a9be3f9178ad3d6ac6d3757eefce49190a9ceeda5700c9fab9fd1ab', 128, 18, 0, '{"id":22,"market":"BTC/USD","action":"TradeOpenedMarket","side":"short","price":"59988.0209388","size":"0.020000000020404081","collateral":"119.975994","leverage":"10","pnl":"0","timestamp":1794802845000,"txHash":"0x83a9f12d953132a58eab439bf1f52bee9194755878ccb9b75aa0fdc0359e86cc","positionId":"21"}');
insert into fills (id, chain, trader, block_hash, block_number, log_index, pair_index, body) values (23, 'arbitrum-sepolia', '0x8e32e79781136104B0DABBa623660D0AB79875E5', '0x9685d88cfffa84143dfbbe36a62d0babc75f38b0cbfb5dcb1a959d32c7c9e002', 134, 23, 0, '{"id":23,"market":"BTC/USD","action":"TradeClosedTP","side":"short","price":"59011.9159594444","size":"0.020000000020404081","collateral":"119.975994","leverage":"10","pnl":"19.522091","timestamp":1794802846000,"txHash":"0xf87aecf58e1e88d21ab0096c82007abbaf4fb8637ead085f5fe5354f76a71fac","positionId":"21"}');
insert into facade_triggers (position_id, kind, oid) values (2, 'tp', 10);
insert into facade_triggers (position_id, kind, oid) values (2, 'sl', 12);
insert into facade_triggers (position_id, kind, oid) values (7, 'tp', 9);
insert into facade_triggers (position_id, kind, oid) values (7, 'sl', 11);
insert into facade_former_triggers (oid, position_id, kind) values (4, 2, 'tp');
insert into facade_former_triggers (oid, position_id, kind) values (5, 2, 'sl');
