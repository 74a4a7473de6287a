BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0006');
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
INSERT INTO "answers" VALUES('a1','i1','s1','Metformin. It is first line.','because','[{"title":"Guide","url":"https://x.org"}]','[]',1);
INSERT INTO "answers" VALUES('a2','i1','s2','Insulin.','','[]','[[0,8]]',1);
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
INSERT INTO "attempts" VALUES('x1','t1','J1','not json','{oops','2025-03-01T12:00:00Z',1);
CREATE TABLE audit_log (
	seq INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	data TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "audit_log" VALUES(1,'2025-03-01T12:00:00Z','import','{"content":"4ade46afdbc2a877c62895a3843a593c9050d000a9e91af804e41910985be081","digest":"d1","new":{"answers":2,"attempts":1,"events":1,"items":2,"raters":2,"ratings":6,"tasks":2},"source":"sample.csv","unchanged":{"answers":0,"attempts":0,"events":0,"items":0,"raters":0,"ratings":0,"tasks":0}}','0000000000000000000000000000000000000000000000000000000000000000','6def91d098b4521aa95808b76ee7e2bf92fadd36ba3258b1bbf8d9a47bb878f8');
INSERT INTO "audit_log" VALUES(2,'2025-03-01T12:00:00Z','calls','{"calls":1,"content":"5fe115fc074ec08c3e7b6772878410fe0acde95e9c2e3bafaf879ea9cafe9e7e"}','6def91d098b4521aa95808b76ee7e2bf92fadd36ba3258b1bbf8d9a47bb878f8','841036212b6132d52c40c3aa20f10e59bc5c1aee4ac9c802088c5575b2a7f2a0');
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
INSERT INTO "calls" VALUES('w',1,'answer','s1','i1','k','local','m','ok',1,200,'{"seed":1}','{}','m-1','{}',NULL,0.0,'{}','{}','2025-03-01T12:00:00Z',2);
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
CREATE TABLE drafts (
	task TEXT NOT NULL, 
	field TEXT NOT NULL, 
	value TEXT NOT NULL, 
	rev INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	PRIMARY KEY (task, field)
);
CREATE TABLE events (
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	at TEXT NOT NULL, 
	data TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES('e1','consent','R1','2025-03-01T12:00:00Z','{"nested":{"a":[1,2.5,null]},"version":2}',1);
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
INSERT INTO "imports" VALUES(1,'sample.csv','d1','2025-03-01T12:00:00Z','{"answers":2,"attempts":1,"events":1,"items":2,"raters":2,"ratings":6,"tasks":2}','{"answers":0,"attempts":0,"events":0,"items":0,"raters":0,"ratings":0,"tasks":0}');
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
INSERT INTO "items" VALUES('i1','Which drug?','metformin','["Glucophage"]','case-1','["core","split"]','{"level":"easy"}',1);
INSERT INTO "items" VALUES('i2','Dose <5 mg/dL?
Say why, in „Worten“.','','[]',NULL,'[]','{}',1);
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('audit_head','[2,"841036212b6132d52c40c3aa20f10e59bc5c1aee4ac9c802088c5575b2a7f2a0"]');
INSERT INTO "meta" VALUES('schema','6');
CREATE TABLE people (
	rater TEXT NOT NULL, 
	name TEXT NOT NULL, 
	email TEXT NOT NULL, 
	PRIMARY KEY (rater), 
	FOREIGN KEY(rater) REFERENCES raters (id)
);
CREATE TABLE raters (
	id TEXT NOT NULL, 
	panel TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	family TEXT NOT NULL, 
	strata TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "raters" VALUES('R1','doctors','human','','{"specialty":"cardiology"}',1);
INSERT INTO "raters" VALUES('J1','judges','llm','acme','{}',1);
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
INSERT INTO "ratings" VALUES('t1','accuracy','["a1"]','','R1','i1','rated','4','',NULL,12.25,'2025-03-01T12:00:00Z','abc',1,1);
INSERT INTO "ratings" VALUES('t1','accuracy','["a2"]','','R1','i1','abstained',NULL,'=1+1',0.1,NULL,'','',1,1);
INSERT INTO "ratings" VALUES('t1','accuracy','["a1"]','[0,10]','R1','i1','rated','','',NULL,NULL,'','',1,1);
INSERT INTO "ratings" VALUES('t1','preference','["a1","a2"]','','R1','i1','rated','-2','',NULL,NULL,'','',1,1);
INSERT INTO "ratings" VALUES('t1','accuracy','[]','','R1','i1','rated','hard
very','',NULL,NULL,'','',1,1);
INSERT INTO "ratings" VALUES('t2','ease','[]','','R1',NULL,'rated','yes','',NULL,NULL,'','',1,1);
CREATE TABLE renderings (
	source TEXT NOT NULL, 
	renderer TEXT NOT NULL, 
	html TEXT NOT NULL, 
	PRIMARY KEY (source)
);
CREATE TABLE salts (
	owner TEXT NOT NULL, 
	salt TEXT NOT NULL, 
	PRIMARY KEY (owner)
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
CREATE TABLE staff (
	who TEXT NOT NULL, 
	name TEXT NOT NULL, 
	PRIMARY KEY (who)
);
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
INSERT INTO "tasks" VALUES('t1','slot-1','R1','form','i1','["a2","a1"]','[[0,8]]','text','main','b1',3,'main',NULL,1);
INSERT INTO "tasks" VALUES('t2','slot-2','','survey',NULL,'[]','[]','','','',0,'repeat','t1',1);
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
