package schema

import "strconv"

func readAllOf(r *reading, operand any) error {
	nodes, err := r.list(operand, r.inPlace)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		for _, n := range nodes {
			n.eval(v, value, at, l)
		}
	})
}

func readAnyOf(r *reading, operand any) error {
	nodes, err := r.list(operand, r.inPlace)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		fits := false
		var misses [][]Mismatch
		for _, n := range nodes {
			ok, why := n.try(v, value, at, l)
			if fits = fits || ok; fits && l == nil {
				return
			}
			misses = append(misses, why)
		}
		if !fits {
			v.add(at, "fits none of %d alternatives; nearest: %s", len(nodes), join3(fewest(misses)))
		}
	})
}

func readOneOf(r *reading, operand any) error {
	nodes, err := r.list(operand, r.inPlace)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		fits := 0
		var misses [][]Mismatch
		for _, n := range nodes {
			ok, why := n.try(v, value, at, l)
			if ok {
				fits++
			}
			misses = append(misses, why)
		}
		switch {
		case fits == 0:
			v.add(at, "fits none of %d alternatives; nearest: %s", len(nodes), join3(fewest(misses)))
		case fits > 1:
			v.add(at, "fits %d of %d alternatives and has to fit one", fits, len(nodes))
		}
	})
}

func readNot(r *reading, operand any) error {
	n, err := r.inPlace("", operand)
	if err != nil {
		return err
	}
	return r.check(func(v *visit, value any, at string, _ *looked) {
		if ok, _ := n.try(v, value, at, nil); ok {
			v.add(at, "is what it must not be (%s)", pointer(n.at))
		}
	})
}

func readIf(r *reading, operand any) error {
	cond, err := r.inPlace("", operand)
	if err != nil {
		return err
	}
	branch := map[bool]*node{}
	for fits, word := range map[bool]string{true: "then", false: "else"} {
		if raw, ok := r.m[word]; ok {
			other := reading{c: r.c, n: r.n, p: r.p, m: r.m, name: word}
			if branch[fits], err = other.inPlace("", raw); err != nil {
				return err
			}
		}
	}
	return r.check(func(v *visit, value any, at string, l *looked) {
		ok, _ := cond.try(v, value, at, l)
		if n := branch[ok]; n != nil {
			n.eval(v, value, at, l)
		}
	})
}

func readRestItems(r *reading, operand any) error {
	n, err := r.sub("", operand)
	if err != nil {
		return err
	}
	r.c.marks = true
	r.n.last = append(r.n.last, func(v *visit, value any, at string, l *looked) {
		list, _ := value.([]any)
		for i, x := range list {
			if !l.items[i] {
				n.eval(v, x, at+"/"+strconv.Itoa(i), nil)
				l.item(i)
			}
		}
	})
	return nil
}

func readRest(r *reading, operand any) error {
	n, err := r.sub("", operand)
	if err != nil {
		return err
	}
	r.c.marks = true
	r.n.last = append(r.n.last, func(v *visit, value any, at string, l *looked) {
		m, _ := value.(map[string]any)
		for _, name := range keys(m) {
			if !l.names[name] {
				n.eval(v, m[name], below(at, name), nil)
				l.name(name)
			}
		}
	})
	return nil
}
