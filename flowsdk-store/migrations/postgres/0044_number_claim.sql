-- Numbers of which a transaction makes contacts, under one name for both forms. No row outlives its transaction.
CREATE UNLOGGED TABLE number_claim (number TEXT COLLATE "C" PRIMARY KEY);
