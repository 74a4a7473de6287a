BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0005');
CREATE TABLE answers (
	id TEXT NOT NULL, 
	item TEXT NOT NULL, 
	system TEXT NOT NULL, 
	text TEXT NOT NULL, 
	reasoning TEXT NOT NULL, 
	citations TEXT NOT NULL, 
	sentences TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "answers" VALUES('a1','i1','s1','Metformin. It is first line.','because','[{"title":"Guide","url":"https://x.org"}]','[]',2);
INSERT INTO "answers" VALUES('a2','i1','s2','Insulin.','','[]','[[0,8]]',2);
CREATE TABLE attempts (
	id TEXT NOT NULL, 
	task TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	raw TEXT NOT NULL, 
	at TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "attempts" VALUES('x1','t1','J1','not json','{oops','2025-03-01T12:00:00Z',2);
CREATE TABLE audit_log (
	seq INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	data TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "audit_log" VALUES(1,'2025-03-01T12:00:00Z','protocol','{"before":"","now":"digest-1"}','0000000000000000000000000000000000000000000000000000000000000000','4ac12002d5bacb324c2d871f9dba88fa73a87327751dc87b2d78baeb88ff6317');
INSERT INTO "audit_log" VALUES(2,'2025-03-01T12:00:00Z','import','{"content":"4ade46afdbc2a877c62895a3843a593c9050d000a9e91af804e41910985be081","digest":"d1","files":{"a.csv":"d1"},"new":{"answers":2,"attempts":1,"events":1,"items":2,"raters":2,"ratings":6,"tasks":2},"source":"a.csv","unchanged":{"answers":0,"attempts":0,"events":0,"items":0,"raters":0,"ratings":0,"tasks":0}}','4ac12002d5bacb324c2d871f9dba88fa73a87327751dc87b2d78baeb88ff6317','bcc538e526a9886bea7fd26eed4c6c41c409bb105a20f8c6f6b39369f86c398c');
INSERT INTO "audit_log" VALUES(3,'2025-03-01T12:00:00Z','calls','{"calls":1,"content":"2bf23d869ae55d6aa355a375633d8960d31f0fb4c0f87a0f690717f9109db993"}','bcc538e526a9886bea7fd26eed4c6c41c409bb105a20f8c6f6b39369f86c398c','e1b9732e99da8ee1487890f94b24ececbfef8efc172f7a740f6ef5865eea0060');
INSERT INTO "audit_log" VALUES(4,'2025-03-01T12:00:00Z','invitation','{"expires_at":"2025-06-01T12:00:00Z","role":"rater","traces":{"invitations":{"0a9d9cf367ebdd85ba20c173224c07b72092fea8d208c6b601e2d569c772a48e":"f88c41567501d0e64b2b607eff268344"}},"who":"R1"}','e1b9732e99da8ee1487890f94b24ececbfef8efc172f7a740f6ef5865eea0060','94efbb4d89be50a8322b9eac5ce2860616bcd4873ea58cba8971a8d7fada33f4');
INSERT INTO "audit_log" VALUES(5,'2025-03-01T12:00:00Z','sign-in','{"role":"rater","traces":{"invitations":{"0a9d9cf367ebdd85ba20c173224c07b72092fea8d208c6b601e2d569c772a48e":"b92881b70b14344a5737c77e33acc8b8"}},"who":"R1"}','94efbb4d89be50a8322b9eac5ce2860616bcd4873ea58cba8971a8d7fada33f4','dc988487be10d55d3f431c4d4f409bccc0215bccc8a2cde7e5078ee2e1368f2d');
INSERT INTO "audit_log" VALUES(6,'2025-03-01T12:00:00Z','traces','{"traces":{"draft_events":{"e1":"6c37a5ae7d897d7e22a1a089f77ec460"},"screens":{"t1":"1bbae8ef6a6f5c211dcb5444ebc021be"},"visits":{"v1":"bad9158432986a888ccd6d8c18576376"}}}','dc988487be10d55d3f431c4d4f409bccc0215bccc8a2cde7e5078ee2e1368f2d','8f1121809dbedc9e9c55d063ee22f7c8cf199cbb2b69d00d56b7ce8386d49157');
INSERT INTO "audit_log" VALUES(7,'2025-03-01T12:00:00Z','revision','{"content":"4d7e38ac8ced84a901a303797c7ad50e75e728615a44c3c9d45c0125dc83c81e","event":"rev-1","ratings":1}','8f1121809dbedc9e9c55d063ee22f7c8cf199cbb2b69d00d56b7ce8386d49157','69912b5c55e281a26295e4fd43a9ba2389980454bbb568b1d5387a5e0e9c648b');
CREATE TABLE calls (
	work TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	who TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	endpoint TEXT NOT NULL, 
	model TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	ended INTEGER NOT NULL, 
	status INTEGER NOT NULL, 
	asked TEXT NOT NULL, 
	sent TEXT NOT NULL, 
	echoed TEXT NOT NULL, 
	usage TEXT NOT NULL, 
	cost FLOAT, 
	seconds FLOAT NOT NULL, 
	reply TEXT NOT NULL, 
	raw TEXT NOT NULL, 
	at TEXT NOT NULL, entry INTEGER, 
	PRIMARY KEY (work, attempt)
);
INSERT INTO "calls" VALUES('w',1,'answer','s1','i1','k','local','m','ok',1,200,'{"seed":1}','{}','m-1','{}',0.5,0.0,'{}','','2025-03-01T12:00:00Z',3);
CREATE TABLE draft_events (
	id TEXT NOT NULL, 
	task TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	field TEXT NOT NULL, 
	value TEXT NOT NULL, 
	base_rev INTEGER NOT NULL, 
	rev INTEGER NOT NULL, 
	said_at TEXT NOT NULL, 
	at TEXT NOT NULL, entry INTEGER, 
	PRIMARY KEY (id)
);
INSERT INTO "draft_events" VALUES('e1','t1','R1','accuracy.a1','4',0,1,'2025-03-01T12:00:00Z','2025-03-01T12:00:00Z',6);
CREATE TABLE drafts (
	task TEXT NOT NULL, 
	field TEXT NOT NULL, 
	value TEXT NOT NULL, 
	rev INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	PRIMARY KEY (task, field)
);
INSERT INTO "drafts" VALUES('t1','accuracy.a1','4',1,'e1');
CREATE TABLE events (
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	at TEXT NOT NULL, 
	data TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES('e1','consent','R1','2025-03-01T12:00:00Z','{"nested":{"a":[1,2.5,null]},"version":2}',2);
INSERT INTO "events" VALUES('rev-1','revision','t1','2025-03-01T12:00:00Z','{"criteria":["accuracy"],"sha256":"8ba522212bdd55b3e97351d3e8fcd928135cad663f380c7453987f4c6bab1cf9"}',7);
CREATE TABLE imports (
	entry INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	at TEXT NOT NULL, 
	new TEXT NOT NULL, 
	unchanged TEXT NOT NULL, 
	PRIMARY KEY (entry), 
	FOREIGN KEY(entry) REFERENCES audit_log (seq)
);
INSERT INTO "imports" VALUES(2,'a.csv','d1','2025-03-01T12:00:00Z','{"answers":2,"attempts":1,"events":1,"items":2,"raters":2,"ratings":6,"tasks":2}','{"answers":0,"attempts":0,"events":0,"items":0,"raters":0,"ratings":0,"tasks":0}');
CREATE TABLE invitations (
	token TEXT NOT NULL, 
	who TEXT NOT NULL, 
	role TEXT NOT NULL, 
	made_at TEXT NOT NULL, 
	expires_at TEXT NOT NULL, 
	uses INTEGER NOT NULL, 
	most_uses INTEGER, 
	used_at TEXT, 
	revoked_at TEXT, entry INTEGER, 
	PRIMARY KEY (token)
);
INSERT INTO "invitations" VALUES('0a9d9cf367ebdd85ba20c173224c07b72092fea8d208c6b601e2d569c772a48e','R1','rater','2025-03-01T12:00:00Z','2025-06-01T12:00:00Z',1,NULL,'2025-03-01T12:00:00Z',NULL,5);
CREATE TABLE items (
	id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	reference TEXT, 
	aliases TEXT NOT NULL, 
	"case" TEXT, 
	sets TEXT NOT NULL, 
	strata TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "items" VALUES('i1','Which drug?','metformin','["Glucophage"]','case-1','["core","split"]','{"level":"easy"}',2);
INSERT INTO "items" VALUES('i2','Dose <5 mg/dL?
Say why, in „Worten“.','','[]',NULL,'[]','{}',2);
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('audit_head','[7,"69912b5c55e281a26295e4fd43a9ba2389980454bbb568b1d5387a5e0e9c648b"]');
INSERT INTO "meta" VALUES('schema','5');
INSERT INTO "meta" VALUES('study_digest','digest-1');
CREATE TABLE people (
	rater TEXT NOT NULL, 
	name TEXT NOT NULL, 
	email TEXT NOT NULL, 
	PRIMARY KEY (rater), 
	FOREIGN KEY(rater) REFERENCES raters (id)
);
INSERT INTO "people" VALUES('R1','Ada May','ada@clinic.example');
CREATE TABLE raters (
	id TEXT NOT NULL, 
	panel TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	family TEXT NOT NULL, 
	strata TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "raters" VALUES('R1','doctors','human','','{"specialty":"cardiology"}',2);
INSERT INTO "raters" VALUES('J1','judges','llm','acme','{}',2);
CREATE TABLE rating_revisions (
	task TEXT NOT NULL, 
	criterion TEXT NOT NULL, 
	answers TEXT NOT NULL, 
	span TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	item TEXT, 
	state TEXT NOT NULL, 
	label TEXT, 
	note TEXT NOT NULL, 
	confidence FLOAT, 
	seconds FLOAT, 
	at TEXT NOT NULL, 
	instrument TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	entry INTEGER NOT NULL, 
	superseded_at TEXT NOT NULL, 
	superseded_by TEXT NOT NULL, 
	PRIMARY KEY (task, criterion, answers, span, revision), 
	CONSTRAINT revision_of FOREIGN KEY(task, criterion, answers, span) REFERENCES ratings (task, criterion, answers, span), 
	FOREIGN KEY(superseded_by) REFERENCES events (id)
);
INSERT INTO "rating_revisions" VALUES('t1','accuracy','["a1"]','','R1','i1','rated','4','',NULL,12.25,'2025-03-01T12:00:00Z','abc',1,2,'2025-03-01T12:00:00Z','rev-1');
CREATE TABLE ratings (
	task TEXT NOT NULL, 
	criterion TEXT NOT NULL, 
	answers TEXT NOT NULL, 
	span TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	item TEXT, 
	state TEXT NOT NULL, 
	label TEXT, 
	note TEXT NOT NULL, 
	confidence FLOAT, 
	seconds FLOAT, 
	at TEXT NOT NULL, 
	instrument TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (task, criterion, answers, span), 
	CONSTRAINT rating_state CHECK ((state = 'rated' AND label IS NOT NULL) OR (state = 'abstained' AND label IS NULL))
);
INSERT INTO "ratings" VALUES('t1','accuracy','["a1"]','','R1','i1','rated','5','After a second reading.',NULL,12.25,'2025-03-01T12:00:00Z','abc',2,7);
INSERT INTO "ratings" VALUES('t1','accuracy','["a2"]','','R1','i1','abstained',NULL,'=1+1',0.1,NULL,'','',1,2);
INSERT INTO "ratings" VALUES('t1','accuracy','["a1"]','[0,10]','R1','i1','rated','','',NULL,NULL,'','',1,2);
INSERT INTO "ratings" VALUES('t1','preference','["a1","a2"]','','R1','i1','rated','-2','',NULL,NULL,'','',1,2);
INSERT INTO "ratings" VALUES('t1','accuracy','[]','','R1','i1','rated','hard
very','',NULL,NULL,'','',1,2);
INSERT INTO "ratings" VALUES('t2','ease','[]','','R1',NULL,'rated','yes','',NULL,NULL,'','',1,2);
CREATE TABLE renderings (
	source TEXT NOT NULL, 
	renderer TEXT NOT NULL, 
	html TEXT NOT NULL, 
	PRIMARY KEY (source)
);
CREATE TABLE screens (
	task TEXT NOT NULL, 
	public TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	opened_at TEXT NOT NULL, 
	"deferred" INTEGER NOT NULL, 
	rev INTEGER NOT NULL, 
	submitted_at TEXT, 
	seconds FLOAT, entry INTEGER, 
	PRIMARY KEY (task), 
	UNIQUE (public)
);
INSERT INTO "screens" VALUES('t1','LuR6tlDFazXrL2ot','R1','2025-03-01T12:00:00Z',0,1,'2025-03-01T12:00:00Z',10.0,6);
CREATE TABLE task_revisions (
	id TEXT NOT NULL, 
	slot TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	instrument TEXT NOT NULL, 
	item TEXT, 
	answers TEXT NOT NULL, 
	spans TEXT NOT NULL, 
	arm TEXT NOT NULL, 
	phase TEXT NOT NULL, 
	batch TEXT NOT NULL, 
	position BIGINT NOT NULL, 
	purpose TEXT NOT NULL, 
	repeat_of TEXT, 
	entry INTEGER NOT NULL, 
	superseded_at TEXT NOT NULL, 
	superseded_by TEXT NOT NULL, 
	PRIMARY KEY (id, entry), 
	FOREIGN KEY(superseded_by) REFERENCES events (id), 
	FOREIGN KEY(id) REFERENCES tasks (id)
);
CREATE TABLE tasks (
	id TEXT NOT NULL, 
	slot TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	instrument TEXT NOT NULL, 
	item TEXT, 
	answers TEXT NOT NULL, 
	spans TEXT NOT NULL, 
	arm TEXT NOT NULL, 
	phase TEXT NOT NULL, 
	batch TEXT NOT NULL, 
	position BIGINT NOT NULL, 
	purpose TEXT NOT NULL, 
	repeat_of TEXT, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "tasks" VALUES('t1','slot-1','R1','form','i1','["a2","a1"]','[[0,8]]','text','main','b1',3,'main',NULL,2);
INSERT INTO "tasks" VALUES('t2','slot-2','','survey',NULL,'[]','[]','','','',0,'repeat','t1',2);
CREATE TABLE visitors (
	cookie TEXT NOT NULL, 
	who TEXT NOT NULL, 
	role TEXT NOT NULL, 
	csrf TEXT NOT NULL, 
	language TEXT NOT NULL, 
	made_at TEXT NOT NULL, 
	expires_at TEXT NOT NULL, 
	PRIMARY KEY (cookie)
);
INSERT INTO "visitors" VALUES('35bd5dd12e51465edef9ecc665586c2361b7b062db7739d95d254a5fb9d821ab','R1','rater','5TfWeuh1sywf-QSRcXhJYfOKZ7vlRE7s','','2025-03-01T12:00:00Z','2025-06-01T12:00:00Z');
CREATE TABLE visits (
	id TEXT NOT NULL, 
	task TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	opened_at TEXT NOT NULL, 
	wall FLOAT, 
	active FLOAT, 
	first_input FLOAT, ends TEXT, entry INTEGER, 
	PRIMARY KEY (id)
);
INSERT INTO "visits" VALUES('v1','t1','R1','2025-03-01T12:00:00Z',20.0,10.0,1.0,NULL,6);
CREATE INDEX attempts_by_task ON attempts (task);
CREATE INDEX answers_by_item ON answers (item);
CREATE INDEX tasks_by_rater ON tasks (rater);
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'rows of audit_log are only appended'); END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log BEGIN SELECT RAISE(ABORT, 'rows of audit_log are only appended'); END;
CREATE TRIGGER imports_no_update BEFORE UPDATE ON imports BEGIN SELECT RAISE(ABORT, 'rows of imports are only appended'); END;
CREATE TRIGGER imports_no_delete BEFORE DELETE ON imports BEGIN SELECT RAISE(ABORT, 'rows of imports are only appended'); END;
CREATE TRIGGER rating_revisions_no_update BEFORE UPDATE ON rating_revisions BEGIN SELECT RAISE(ABORT, 'rows of rating_revisions are only appended'); END;
CREATE TRIGGER rating_revisions_no_delete BEFORE DELETE ON rating_revisions BEGIN SELECT RAISE(ABORT, 'rows of rating_revisions are only appended'); END;
CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'rows of events are only appended'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'rows of events are only appended'); END;
CREATE INDEX calls_by_end ON calls (kind, ended, who, outcome, work, subject);
CREATE TRIGGER calls_no_delete BEFORE DELETE ON calls BEGIN SELECT RAISE(ABORT, 'rows of calls are only appended'); END;
CREATE INDEX tasks_by_item ON tasks (item);
CREATE INDEX ratings_by_item ON ratings (item);
CREATE INDEX events_by_kind ON events (kind, subject);
CREATE INDEX visitors_by_who ON visitors (who);
CREATE INDEX screens_by_rater ON screens (rater);
CREATE INDEX visits_by_task ON visits (task);
CREATE INDEX draft_events_by_task ON draft_events (task);
CREATE TRIGGER draft_events_no_delete BEFORE DELETE ON draft_events BEGIN SELECT RAISE(ABORT, 'rows of draft_events are only appended'); END;
CREATE TRIGGER renderings_no_update BEFORE UPDATE ON renderings BEGIN SELECT RAISE(ABORT, 'rows of renderings are only appended'); END;
CREATE TRIGGER renderings_no_delete BEFORE DELETE ON renderings BEGIN SELECT RAISE(ABORT, 'rows of renderings are only appended'); END;
CREATE TRIGGER task_revisions_no_update BEFORE UPDATE ON task_revisions BEGIN SELECT RAISE(ABORT, 'rows of task_revisions are only appended'); END;
CREATE TRIGGER task_revisions_no_delete BEFORE DELETE ON task_revisions BEGIN SELECT RAISE(ABORT, 'rows of task_revisions are only appended'); END;
CREATE TRIGGER calls_no_update BEFORE UPDATE OF work, attempt, kind, who, subject, key, endpoint, model, outcome, ended, status, asked, sent, echoed, usage, cost, seconds, reply, raw, at ON calls BEGIN SELECT RAISE(ABORT, 'rows of calls are only appended'); END;
CREATE TRIGGER draft_events_no_update BEFORE UPDATE OF id, task, rater, field, value, base_rev, rev, said_at, at ON draft_events BEGIN SELECT RAISE(ABORT, 'rows of draft_events are only appended'); END;
COMMIT;
