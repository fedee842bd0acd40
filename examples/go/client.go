// A whole client of Fairlead's gateway, run as in examples/README.md; (1) to (4) are the four rules.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

type name struct { // of one work on one queue
	Queue [3]any   `json:"queue"`
	Epoch [2]int64 `json:"epoch"`
}
type work struct {
	name
	Position int64 `json:"position"`
	Offset   int64 `json:"offset,omitempty"` // in a start
	stopping bool
}
type answer struct {
	Session, State, Reason, Detail, Remedy string
	Lease                                  time.Duration `json:"lease_ms"`
	Stop, Working                          []name
	Start                                  []*work
}

var works, stopped = []*work{}, []work{}                   // what we work on; what nobody has heard yet
var lock, until, sequence = sync.Mutex{}, time.Now(), 1    // for all; of the lease; over all joins (4)
var ctx, giveUp = context.WithCancel(context.Background()) // of the request under way
var term, _ = signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
var pace, _ = time.ParseDuration(os.Getenv("PACE") + "s")

func left() time.Duration { // of two clocks: one sleeps with the machine, somebody may set one
	return min(time.Until(until), until.Round(0).Sub(time.Now().Round(0)))
}
func (w *work) journal(event string) {
	json.NewEncoder(os.Stdout).Encode(map[string]any{"time": time.Now().UnixMilli(), "event": event,
		"queue": w.Queue, "epoch": w.Epoch, "offset": w.Position})
}
func (w *work) end(event string) {
	w.journal(event)
	works, stopped = slices.DeleteFunc(works, func(o *work) bool { return o == w }), append(stopped, *w)
}
func (w *work) run() { // from its start to its end
	for mine := true; mine; lock.Unlock() {
		time.Sleep(pace) // YOUR WORK: read the message at w.Position and process it
		lock.Lock()
		if mine = slices.Contains(works, w) && left() > 0; mine { // else nothing comes of it (1)
			w.journal("message") // YOUR WORK: what comes of it
			w.Position++
			if w.stopping || term.Err() != nil { // nothing is in hand any more (2)
				w.end("stopped")
				giveUp() // somebody waits for this word: a newer poll says it now
			}
		}
	}
}
func ask(method, path string, patience time.Duration, body map[string]any) (status int, a answer) {
	data, _ := json.Marshal(body)
	ctx, giveUp = context.WithTimeout(context.Background(), min(patience, 5*time.Second))
	request, _ := http.NewRequestWithContext(ctx, method, os.Args[1]+path, bytes.NewReader(data))
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + os.Getenv("TOKEN")}}
	lock.Unlock() // the others go on while this waits
	defer lock.Lock()
	if response, err := http.DefaultClient.Do(request); err == nil {
		defer response.Body.Close()
		status, _ = response.StatusCode, json.NewDecoder(response.Body).Decode(&a)
	}
	if a.State == "" && ctx.Err() == nil {
		time.Sleep(200 * time.Millisecond) // soon another gateway answers
	}
	return status, a
}
func main() {
	for lock.Lock(); term.Err() == nil; { // from a join to the end of its lease
		began := time.Now()
		status, a := ask("POST", "/v1/groups/"+os.Args[2]+"/members", time.Minute, map[string]any{
			"client_id": os.Args[3], "topics": []map[string]any{{"topic": os.Args[4]}}, "consume_from": "first_offset"})
		path, state := "/v1/sessions/"+a.Session, a.State
		for until, stopped = began.Add(a.Lease*1e6), stopped[:0]; left() > 0 && status != 409 && status != 204; sequence++ {
			words := map[string]any{"state": state, "sequence": sequence, "stopped": stopped}
			method, to, leaving, began, said := "DELETE", path, term.Err() != nil, time.Now(), len(stopped)
			if !leaving || len(works) > 0 { // else these are its last words
				method, to, words["leaving"], words["wait_ms"], words["working"] = "POST", path+"/poll", leaving, 3000, works // (3)
			}
			if status, a = ask(method, to, left(), words); a.State == "" || leaving != (term.Err() != nil) {
				continue // no answer, or none to the newest words that we have to say (4)
			}
			state, until, stopped = a.State, began.Add(a.Lease*1e6), stopped[said:]
			for _, w := range slices.Clone(works) {
				w.stopping = w.stopping || slices.Contains(a.Stop, w.name)
				if !slices.Contains(a.Working, w.name) {
					w.end("lost") // too late: it stops at once, and says how far it came
				}
			}
			for _, w := range a.Start { // it comes again until a poll has named it
				if !slices.ContainsFunc(works, func(o *work) bool { return o.Queue == w.Queue }) {
					w.Position, w.Offset, works = w.Offset, 0, append(works, w) // exactly there (3)
					w.journal("start")
					go w.run()
				}
			}
		}
		for _, w := range slices.Clone(works) {
			w.end("lost") // the lease is over: all stops at once, and nothing is said of it (2)
		}
		log.Println(status, a.Reason, a.Detail, a.Remedy)
		if status/100 == 4 && status != 429 && (status != 409 || a.Reason == "duplicate_client_id") {
			os.Exit(1)
		}
	}
}
