CREATE TABLE capture (invoice TEXT NOT NULL, amount INTEGER NOT NULL, message TEXT NOT NULL);
